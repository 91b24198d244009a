--- Picks the endpoints of a backend in turn. Each worker starts at a random one.
--
-- Each picker has these functions:
--   new(endpoints, config, before)
--     endpoints  {hosts, ports, keys, names, count}, with at least one
--     config     the settings of the picker in the push
--     before     the picker of the same kind for the former endpoints, or nil
--   pick(tried, cookie, shunned, ejected) returns a place in hosts and ports
--     tried      the places that this request was sent to, nil at its first try
--     cookie     the cookie for its clients, or nil
--     shunned    these places and others that no new client should get, or nil
--     ejected    with a cookie: the places of ejected endpoints, or nil
--   took(name), if it is there, is called when a request is sent to an endpoint
--   left(name, seconds, failed), if it is there, is called when that endpoint is done with
--     it; seconds is nil if it has not answered, and without "measures"
--   measures, if true, asks for these seconds
-- hosts, ports and keys have an element for each place; keys are the names of endpoints,
-- "host:port", and names the places by these.
local _M = {}
local mt = { __index = _M }

function _M.new(endpoints, _, before)
  local count = endpoints.count
  local at = before and before.at % count or math.random(count) - 1
  return setmetatable({ count = count, at = at }, mt)
end

local function take(self)
  local at = self.at + 1
  if at > self.count then
    at = 1
  end
  self.at = at
  return at
end

--- The next place that was not tried; if all were tried, the next.
function _M:pick(tried, _, shunned)
  local at, out = take(self), shunned or tried
  if out then
    for _ = 2, self.count do
      if not out[at] then
        break
      end
      at = take(self)
    end
  end
  return at
end

return _M
