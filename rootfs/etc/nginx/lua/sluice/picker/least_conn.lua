--- Picks the endpoint with the fewest requests that it has not answered yet; of several
-- such endpoints, each in turn. Each worker counts its own requests.
local _M = {}
local mt = { __index = _M }

-- The counts outlive the picker: requests that were sent before a push end after it.
function _M.new(endpoints, _, before)
  return setmetatable({
    keys = endpoints.keys, count = endpoints.count,
    open = before and before.open or {}, -- by name, never 0
    last = before and before.last % endpoints.count or math.random(endpoints.count) - 1,
  }, mt)
end

local function least(self, out)
  local keys, open, count, at = self.keys, self.open, self.count, self.last
  local found, fewest
  for _ = 1, count do
    at = at < count and at + 1 or 1
    if not (out and out[at]) then
      local here = open[keys[at]]
      if not here then
        return at
      elseif not found or here < fewest then
        found, fewest = at, here
      end
    end
  end
  return found
end

function _M:pick(tried, _, shunned)
  local at = least(self, shunned or tried) or least(self)
  self.last = at
  return at
end

function _M:took(name)
  self.open[name] = (self.open[name] or 0) + 1
end

function _M:left(name)
  local open = (self.open[name] or 0) - 1
  self.open[name] = open > 0 and open or nil
end

return _M
