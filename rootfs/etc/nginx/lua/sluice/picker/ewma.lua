--- Picks the faster of two endpoints by chance. An endpoint is as fast as its answers of
-- the last seconds, the newest of which count most; so its score falls while it is idle,
-- and it gets another chance.
--
-- Each worker measures for itself.
local _M = {}
local mt = { __index = _M }

-- The balancer has to tell how long each answer took.
_M.measures = true

-- After these seconds, a measurement counts a third.
local DECAY = 10

local function average(scores)
  local sum, count = 0, 0
  for _, score in pairs(scores) do
    sum, count = sum + score.value, count + 1
  end
  return count > 0 and sum / count or 0
end

-- New endpoints are as fast as the others, so that they do not get all requests.
function _M.new(endpoints, _, before)
  local known, scores, now = before and before.scores or {}, {}, ngx.now()
  local usual = average(known)
  for _, name in ipairs(endpoints.keys) do
    scores[name] = known[name] or { value = usual, at = now }
  end
  return setmetatable({ keys = endpoints.keys, count = endpoints.count, scores = scores }, mt)
end

local function weight(score, now)
  return math.exp(-math.max(now - score.at, 0) / DECAY)
end

-- A place by chance that is not out, and not another one if there is a choice.
local function draw(self, out, other)
  local start = math.random(self.count)
  for step = 0, self.count - 1 do
    local at = (start + step - 1) % self.count + 1
    if at ~= other and not (out and out[at]) then
      return at
    end
  end
end

function _M:pick(tried, _, shunned)
  local out = shunned or tried
  local one = draw(self, out) or math.random(self.count)
  local two = draw(self, out, one)
  if not two then
    return one
  end
  local now = ngx.now()
  local a, b = self.scores[self.keys[one]], self.scores[self.keys[two]]
  return a.value * weight(a, now) <= b.value * weight(b, now) and one or two
end

-- A failure costs as much as this many seconds, because a connection can fail fast.
local FAILURE = 1

--- Learns the seconds of an answer, or a failure.
function _M:left(name, seconds, failed)
  local score, now = self.scores[name], ngx.now()
  if failed and score then
    score.value, score.at = score.value * weight(score, now) + FAILURE, now
  end
  if not score or not seconds then
    return
  end
  local old = weight(score, now)
  score.value, score.at = score.value * old + seconds * (1 - old), now
end

return _M
