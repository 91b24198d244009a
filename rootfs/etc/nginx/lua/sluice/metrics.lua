--- Counts requests for the metrics of the controller, and sends it what has come since the last
-- time.
--
-- nginx joins the labels and the values of a request in $request_metrics, and equal texts are
-- counted together: one look at a variable, and one into a table, are all that a request costs.
-- The controller knows what the parts are: internal/metrics/requests reads a line
-- "<number>\t<text>" for each text.
local queue = require("sluice.queue")

local _M = {}
local mt = { __index = _M }

-- At most MOST texts of together MOST_BYTES wait. MANY are sent at once, less after DELAY seconds,
-- or RETRY seconds after the socket was full. A text has at most TEXT_BYTES.
local MOST, MOST_BYTES, MANY, DELAY, RETRY, TEXT_BYTES = 200000, 2 ^ 25, 20000, 0.5, 0.005, 16384

-- The text of a request that is not counted begins with this, because it has no labels.
local TAB = 9

--- @tparam table waiting a queue.lua
function _M.new(waiting)
  local self = setmetatable({ queue = waiting, counts = {}, entries = 0, bytes = 0 }, mt)
  waiting.more = function()
    self:encode()
  end
  return self
end

--- Counts a request.
-- @tparam string text the value of $request_metrics
function _M:add(text)
  local before, waiting = self.counts[text], self.queue
  if before then
    self.counts[text] = before + 1
  elseif self.entries + waiting:count() >= MOST or self.bytes + waiting.bytes + #text > MOST_BYTES or #text > TEXT_BYTES then
    waiting:lose()
  else
    self.counts[text], self.entries, self.bytes = 1, self.entries + 1, self.bytes + #text
  end
  if not waiting.timer or self.entries >= MANY then
    waiting:wake(self.entries >= MANY)
  end
end

-- Makes lines of what was counted, and begins to count anew.
function _M:encode()
  for text, count in pairs(self.counts) do
    self.queue:push(count .. "\t" .. text)
  end
  self.counts, self.entries, self.bytes = {}, 0, 0
end

-- What this worker counted, made at its first request.
local worker

local function this_worker()
  worker = _M.new(queue.to(ngx.config.prefix() .. "run/metrics.sock", DELAY, RETRY))
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
    worker.queue:leave()
  end
end

return _M
