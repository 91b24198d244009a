--- Lets new endpoints start slowly: in the middle of its time, an endpoint takes half of the
-- new requests that it would get otherwise.
--
-- Each worker begins the time when it hears of an endpoint. For a new worker, no endpoint is
-- new.
local _M = {}
local mt = { __index = _M }

--- @tparam table config {slow_start in seconds}
-- @tparam table|nil before the one for the former endpoints
function _M.new(endpoints, config, before)
  local self = setmetatable({ time = config.slow_start, names = endpoints.names, since = {} }, mt)
  if before then
    for name in pairs(endpoints.names) do
      if not before.names[name] then
        self.since[name] = ngx.now()
      else
        self.since[name] = before.since[name]
      end
    end
  end
  return self
end

--- Adds the places of new endpoints that take no request this time.
-- @tparam table|nil out a set of places
-- @treturn table|nil the set, a new one if need be
function _M:add(out)
  local now = ngx.now()
  for name, since in pairs(self.since) do
    local age = now - since
    if age >= self.time then
      self.since[name] = nil
    elseif math.random() * self.time >= age then
      out = out or {}
      out[self.names[name]] = true
    end
  end
  return out
end

return _M
