--- Holds lines for the controller, and sends them as datagrams: a worker never waits for it, except
-- at its end. What has no room is lost, and counted.
--
-- A datagram has a line with the number of what was lost since the last one, and then lines.
local socket = require("sluice.socket")

local _M = {}
local mt = { __index = _M }

-- The lines after the first one have together at most DATAGRAM_BYTES, and each has to be shorter.
-- A worker that ends waits at most LAST_TRIES times 50 ms for the controller.
local DATAGRAM_BYTES, LAST_TRIES = 61440, 20

--- @tparam function send takes a datagram; returns whether it was sent
-- @tparam function later runs a function after some seconds; returns whether it will
-- @tparam number delay seconds after which the first line is sent, with what comes until then
-- @tparam number retry seconds until the next try after the controller took nothing
-- @treturn table whose field more, if it is set, is a function that pushes what else is to be sent
function _M.new(send, later, delay, retry)
  return setmetatable({ send = send, later = later, delay = delay, retry = retry, lines = {}, from = 1, last = 0, bytes = 0, lost = 0 }, mt)
end

--- A queue to a socket of the controller.
function _M.to(path, delay, retry)
  local send, wait = socket.open(path)
  -- nginx prepares its timers after the modules are loaded.
  local queue = _M.new(send, function(seconds, what)
    return ngx.timer.at(seconds, what)
  end, delay, retry)
  queue.wait = wait
  return queue
end

--- Adds a line. See to it with wake() that it is sent.
function _M:push(line)
  self.last = self.last + 1
  self.lines[self.last] = line
  self.bytes = self.bytes + #line
end

--- The number of lines that wait.
function _M:count()
  return self.last - self.from + 1
end

--- Counts something as lost.
function _M:lose()
  self.lost = self.lost + 1
end

local function set_timer(self, seconds)
  self.timer = self.later(seconds, function()
    self.timer, self.refused = nil, nil
    if not self:flush() then
      set_timer(self, self.retry)
    end
  end)
  return self.timer
end

--- Sees to it that what waits is sent.
-- @tparam boolean now whether it is too much to wait
function _M:wake(now)
  if now and not self.refused and self:flush() then
    return
  end
  if not self.timer and not set_timer(self, self.refused and self.retry or self.delay) then
    self:flush() -- the worker ends
  end
end

-- The next datagram, and the place of the line after it.
local function next_datagram(self)
  local parts, size, at = { tostring(self.lost) }, 0, self.from
  while at <= self.last and size + #self.lines[at] + 1 <= DATAGRAM_BYTES do
    parts[#parts + 1], size = self.lines[at], size + #self.lines[at] + 1
    at = at + 1
  end
  return table.concat(parts, "\n"), at
end

-- Forgets the lines before a place: what comes later has their room.
local function forget(self, after)
  for at = self.from, after - 1 do
    self.bytes = self.bytes - #self.lines[at]
    self.lines[at] = nil
  end
  self.lost, self.from = 0, after
end

local function send_lines(self)
  while self:count() > 0 or self.lost > 0 do
    local data, after = next_datagram(self)
    if not self.send(data) then
      self.refused = true -- until the timer
      return false
    end
    forget(self, after)
  end
  self.lines, self.from, self.last = {}, 1, 0
  return true
end

--- Sends what waits, as far as the controller takes it.
-- @treturn boolean whether nothing waits any more
function _M:flush()
  if not send_lines(self) then
    return false
  end
  if self.more then
    self.more()
    return send_lines(self)
  end
  return true
end

--- Sends what waits, and gives a busy controller a second.
function _M:leave()
  for _ = 1, LAST_TRIES do
    if self:flush() or not self.wait or not self.wait() then
      return
    end
  end
end

return _M
