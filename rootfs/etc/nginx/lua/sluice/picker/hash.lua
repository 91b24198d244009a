--- Picks the endpoint for the key of a request, or one of several endpoints for it.
--
-- The endpoints for a key are those that follow it on a ring of hashes. If one goes, only
-- the requests with its keys go to another one.
local ring = require("sluice.ring")

local _M = {}
local mt = { __index = _M }

-- The largest subsets that the ring keeps: they take 2 bytes for each place at each point.
local MOST_KEPT = 4

--- @tparam table config {by = {text, variable, text, ...}, subset = the number of endpoints
-- for a key or nil, points = limit of the ring}
function _M.new(endpoints, config)
  -- alone is the variable that is the whole key, as of most hashes.
  local by, subset = config.by, config.subset and math.min(config.subset, endpoints.count)
  return setmetatable({ by = by, alone = by[1] == "" and not by[3] and by[2], subset = subset, ring = ring.new(endpoints.keys, config.points) }, mt)
end

--- The key of a request. A variable without a value counts as an empty text.
-- @tparam table var ngx.var
function _M:key(var)
  if self.alone then
    return var[self.alone] or ""
  end
  local parts = {}
  for at = 1, #self.by, 2 do
    local variable = self.by[at + 1]
    parts[at] = self.by[at]
    parts[at + 1] = variable and var[variable] or ""
  end
  return table.concat(parts)
end

--- The endpoint for a key.
-- @tparam table|nil out places to leave out, unless these are all
function _M:choose(key, out)
  if not out and not self.subset then
    return self.ring:find(key)
  elseif not out and self.subset <= MOST_KEPT then
    return self.ring:one_of(key, self.subset)
  end
  local places = self.ring:first(key, self.subset or 1, out)
  if #places == 0 then
    places = self.ring:first(key, self.subset or 1)
  end
  return places[math.random(#places)]
end

function _M:pick(tried, _, shunned)
  return self:choose(self:key(ngx.var), shunned or tried)
end

return _M
