--- The cookies of the server that decides who may pass, for header_filter_by_lua of the question.
--
-- nginx before 1.23 gives the first of several headers of an answer, and later versions join them by
-- commas, which can be in a cookie too. The request that asks reads the header of the question
-- that is set here, in which tabs join them.
local _M = {}

local HEADER = "Sluice-Cookies"

--- @param cookies the value of ngx.header["Set-Cookie"]: nil, a text or a table
-- @treturn ?string all of them
function _M.join(cookies)
  if type(cookies) ~= "table" then
    cookies = { cookies }
  end
  local found = {}
  for i, cookie in ipairs(cookies) do
    found[i] = cookie:gsub("\t", " ")
  end
  return found[1] and table.concat(found, "\t")
end

--- Also replaces a header of that name from the server.
function _M.tell()
  ngx.header[HEADER] = _M.join(ngx.header["Set-Cookie"])
end

return _M
