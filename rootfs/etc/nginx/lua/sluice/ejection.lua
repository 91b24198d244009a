--- Ejects endpoints that fail: after a number of failures within a time, an endpoint gets no
-- new requests for the same time. After it, one failure is enough.
--
-- Each worker counts for itself, as nginx does with max_fails.
local _M = {}
local mt = { __index = _M }

-- The table with the entries for endpoints that are still there.
local function kept(entries, names)
  entries = entries or {}
  for name in pairs(entries) do
    if not names[name] then
      entries[name] = nil
    end
  end
  return entries
end

--- @tparam table config {max_fails, fail_timeout in seconds}
-- @tparam table|nil before the one for the former endpoints
function _M.new(endpoints, config, before)
  return setmetatable({
    most = config.max_fails, time = config.fail_timeout, names = endpoints.names,
    fails = kept(before and before.fails, endpoints.names), -- by name: {count, since}
    ejected = kept(before and before.ejected, endpoints.names), -- by name: until when
  }, mt)
end

--- Counts a failure of an endpoint.
function _M:failed(name)
  local now, fails = ngx.now(), self.fails[name]
  if not fails or now - fails.since >= self.time then
    fails = { count = 0, since = now }
    self.fails[name] = fails
  end
  fails.count = fails.count + 1
  if fails.count >= self.most and self.names[name] then
    self.ejected[name] = now + self.time
  end
end

--- Adds the places of ejected endpoints.
-- @tparam table|nil out a set of places
-- @treturn table|nil the set, a new one if need be
function _M:add(out)
  local now = ngx.now()
  for name, till in pairs(self.ejected) do
    if till > now then
      out = out or {}
      out[self.names[name]] = true
    else
      self.ejected[name] = nil
      self.fails[name] = { count = self.most - 1, since = now }
    end
  end
  return out
end

return _M
