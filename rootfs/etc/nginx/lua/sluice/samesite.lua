--- Finds browsers that read SameSite=None as Strict, or refuse such a cookie.
-- Source: https://www.chromium.org/updates/same-site/incompatible-clients/
local _M = {}

--- @tparam string|nil agent the header User-Agent
function _M.misread(agent)
  if not agent then
    return false
  end
  if agent:find("Chrom[ei]u?m?/[56]%d%D") or agent:find("Chrom[ei]u?m?/4%d%D") then
    return true
  end
  if agent:find("OS 12_", 1, true) and (agent:find("iPhone", 1, true) or agent:find("iPad", 1, true) or agent:find("iPod", 1, true)) then
    return true
  end
  return agent:find("Mac OS X 10_14", 1, true) ~= nil and agent:find("Safari/", 1, true) ~= nil and not agent:find("Chrom", 1, true)
end

return _M
