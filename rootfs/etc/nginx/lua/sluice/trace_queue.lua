--- Holds the records of spans, and sends them to the controller as datagrams: a worker never
-- waits for it. What has no room is dropped and counted.
--
-- A datagram has a line {"dropped": <number>}, and a line for each record.
local cjson = require("cjson.safe")
local datagram = require("sluice.datagram")

local _M = {}
local mt = { __index = _M }

-- At most MOST records of together MOST_BYTES wait. A datagram has at most DATAGRAM_BYTES.
-- FULL_BYTES are sent at once, less after DELAY seconds.
local MOST, MOST_BYTES, DATAGRAM_BYTES, FULL_BYTES, DELAY = 4096, 2 ^ 21, 65536, 32768, 0.5

-- How often a worker that ends waits 50 ms for the controller.
local LAST_TRIES = 10

--- @tparam function send takes a datagram; returns whether it was sent
-- @tparam function later runs a function after some seconds; returns whether it will
function _M.new(send, later)
  return setmetatable({ send = send, later = later, lines = {}, bytes = 0, dropped = 0 }, mt)
end

--- Adds a record, or drops it.
function _M:add(record)
  local line = cjson.encode(record)
  if not line or #self.lines >= MOST or self.bytes + #line > MOST_BYTES or #line > DATAGRAM_BYTES / 2 then
    self.dropped = self.dropped + 1
    return
  end
  self.lines[#self.lines + 1] = line
  self.bytes = self.bytes + #line
  if self.bytes >= FULL_BYTES and not self.waits then
    self:flush()
  end
  if #self.lines > 0 and not self.timer and not self:set_timer() then
    self:flush() -- the worker ends
  end
end

-- Has the lines sent a little later, with what comes until then.
function _M:set_timer()
  self.timer = self.later(DELAY, function()
    self.timer, self.waits = nil, nil
    if not self:flush() then
      self:set_timer()
    end
  end)
  return self.timer
end

-- The next datagram, and the number of records in it.
local function next_datagram(self)
  local parts, size = { cjson.encode({ dropped = self.dropped }) }, 32
  for at, line in ipairs(self.lines) do
    size = size + #line + 1
    if size > DATAGRAM_BYTES then
      break
    end
    parts[at + 1] = line
  end
  return table.concat(parts, "\n"), #parts - 1
end

--- Sends what waits, as far as the controller takes it.
-- @treturn boolean whether nothing waits any more
function _M:flush()
  while #self.lines > 0 do
    local data, count = next_datagram(self)
    if not self.send(data) then
      self.waits = true -- until the timer
      return false
    end
    self.dropped = 0
    local rest, bytes = {}, 0
    for at = count + 1, #self.lines do
      rest[#rest + 1] = self.lines[at]
      bytes = bytes + #self.lines[at]
    end
    self.lines, self.bytes = rest, bytes
  end
  return true
end

--- Sends what waits, and gives a busy controller half a second.
function _M:leave()
  datagram.drain(self, LAST_TRIES)
end

-- This worker's queue, made at its first span.
local worker

--- @treturn table the queue of this worker
function _M.worker()
  if not worker then
    local send, wait = datagram.socket(ngx.config.prefix() .. "run/traces.sock")
    worker = _M.new(send, function(seconds, what)
      return ngx.timer.at(seconds, what)
    end)
    worker.wait = wait
  end
  return worker
end

return _M
