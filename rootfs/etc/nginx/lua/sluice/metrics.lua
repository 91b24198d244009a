--- Counts requests for the metrics of the controller, and sends it what has come since the last
-- time, as datagrams.
--
-- nginx joins the labels and the values of a request in $request_metrics, and equal texts are
-- counted together: one look at a variable, and one into a table, are all that a request costs.
-- The controller knows what the parts are. A datagram has a line with the number of requests that
-- were lost, and a line "<number>\t<text>" for each text. internal/metrics/requests reads them.
local datagram = require("sluice.datagram")

local _M = {}
local mt = { __index = _M }

-- At most MOST texts of together MOST_BYTES wait. MANY are sent at once, less after DELAY seconds,
-- or RETRY seconds after the socket was full. A line has at most LINE_BYTES, and a datagram at most
-- DATAGRAM_BYTES.
local MOST, MOST_BYTES, MANY, DELAY, RETRY, LINE_BYTES, DATAGRAM_BYTES = 200000, 2 ^ 25, 20000, 0.5, 0.005, 16384, 61440

-- How often a worker that ends waits 50 ms for the controller.
local LAST_TRIES = 20

-- The text of a request that is not counted begins with this, because it has no labels.
local TAB = 9

--- @tparam function send takes a datagram; returns whether it was sent
-- @tparam function later runs a function after some seconds; returns whether it will
function _M.new(send, later)
  return setmetatable({ send = send, later = later, counts = {}, entries = 0, bytes = 0, lost = 0, lines = {}, from = 1 }, mt)
end

--- Counts a request.
-- @tparam string text the value of $request_metrics
function _M:add(text)
  local before = self.counts[text]
  if before then
    self.counts[text] = before + 1
  elseif self.entries + #self.lines >= MOST or self.bytes + #text > MOST_BYTES or #text > LINE_BYTES then
    self.lost = self.lost + 1
  else
    self.counts[text], self.entries, self.bytes = 1, self.entries + 1, self.bytes + #text
  end
  if not self.timer or self.entries >= MANY then
    self:wake()
  end
end

--- Sees to it that what was counted is sent.
function _M:wake()
  if not self.timer then
    if not self:set_timer(DELAY) then
      self:flush() -- the worker ends
    end
  elseif not self.waits then
    self:flush()
  end
end

function _M:set_timer(seconds)
  self.timer = self.later(seconds, function()
    self.timer, self.waits = nil, nil
    if not self:flush() then
      self:set_timer(RETRY)
    end
  end)
  return self.timer
end

-- Makes lines of what was counted, and begins to count anew.
local function encode(self)
  local lines = {}
  for text, count in pairs(self.counts) do
    lines[#lines + 1] = count .. "\t" .. text
  end
  self.counts, self.entries, self.bytes, self.lines, self.from = {}, 0, 0, lines, 1
end

-- The next datagram, and the place of the line after it.
local function next_datagram(self)
  local parts, size, at = { tostring(self.lost) }, 32, self.from
  while at <= #self.lines and size + #self.lines[at] + 1 <= DATAGRAM_BYTES do
    parts[#parts + 1], size = self.lines[at], size + #self.lines[at] + 1
    at = at + 1
  end
  return table.concat(parts, "\n"), at
end

-- Sends the lines, as far as the controller takes them.
local function send_lines(self)
  while self.from <= #self.lines or self.lost > 0 do
    local data, after = next_datagram(self)
    if not self.send(data) then
      self.waits = true -- until the timer
      return false
    end
    self.lost, self.from = 0, after
  end
  self.lines, self.from = {}, 1
  return true
end

--- Sends what was counted, as far as the controller takes it.
-- @treturn boolean whether nothing waits any more
function _M:flush()
  if not send_lines(self) then
    return false
  end
  encode(self)
  return send_lines(self)
end

--- Sends what was counted, and gives a busy controller a second.
function _M:leave()
  datagram.drain(self, LAST_TRIES)
end

-- What this worker counted, made at its first request.
local worker

local function this_worker()
  local send, wait = datagram.socket(ngx.config.prefix() .. "run/metrics.sock")
  worker = _M.new(send, ngx.timer.at)
  worker.wait = wait
  return worker
end

--- Counts the request. For log_by_lua. A subrequest has the variables of its parent, which would
-- keep the text.
function _M.count()
  if ngx.is_subrequest then
    return
  end
  local text = ngx.var.request_metrics
  if text and text:byte() ~= TAB then
    (worker or this_worker()):add(text)
  end
end

--- Sends what waits, before the worker ends. For exit_worker_by_lua.
function _M.leave_worker()
  if worker then
    worker:leave()
  end
end

return _M
