--- Picks the endpoints of a backend in turn, each worker from a random start.
--
-- A picker has new(endpoints, config, before) and pick(tried, cookie). Endpoints is {hosts,
-- ports, names, count} with at least one, config what the controller says of the
-- picker, and before the picker of the same kind whose endpoints or config were
-- others, nil for none. Tried are the places of the endpoints that this request went
-- to, nil at its first try; the cookie is the one that its clients get, nil for none. What is given is a place in hosts and ports.
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

--- The next in turn that was not tried; if all were, the next.
function _M:pick(tried)
  local at = take(self)
  if tried then
    for _ = 2, self.count do
      if not tried[at] then
        break
      end
      at = take(self)
    end
  end
  return at
end

return _M
