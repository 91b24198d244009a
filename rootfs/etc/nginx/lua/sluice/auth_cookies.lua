--- The cookies of the server that decides who may pass, for header_filter_by_lua of the question.
--
-- nginx before 1.23 gives the first of several headers of an answer, and later versions join them by
-- commas, which can be in a cookie too. The request that asks reads the headers of the question
-- that are set here, each with one cookie.
local _M = {}

local HEADERS = { "Sluice-Cookie" }
for i = 2, 8 do
  HEADERS[i] = "Sluice-Cookie-" .. i
end

--- Sets the headers, and removes those of these names that the server sent.
-- @tparam table headers ngx.header, in which Set-Cookie is nil, a text or a table
function _M.tell(headers)
  local cookies = headers["Set-Cookie"]
  if type(cookies) ~= "table" then
    cookies = { cookies }
  end
  for i, name in ipairs(HEADERS) do
    headers[name] = cookies[i]
  end
end

return _M
