--- Picks the faster of two endpoints by chance. An endpoint is as fast as its answers of
-- the last seconds, the newest of which count most; so its score falls while it is idle,
-- and it gets another chance.
--
-- Each worker measures for itself.
local random = math.random

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

-- A score is worth value * exp(-(now - at) / DECAY). Its rank is the logarithm of that without the
-- part that all scores share, so the faster of two has the lower rank at any time.
local function learn(score, value, now)
  score.value, score.at, score.rank = value, now, math.log(value) + now / DECAY
end

-- New endpoints are as fast as the others, so that they do not get all requests.
function _M.new(endpoints, _, before)
  local known, scores, places, now = before and before.scores or {}, {}, {}, ngx.now()
  local usual = average(known)
  for at, name in ipairs(endpoints.keys) do
    local score = known[name] or {}
    if not known[name] then
      learn(score, usual, now)
    end
    scores[name], places[at] = score, score
  end
  return setmetatable({ places = places, count = endpoints.count, scores = scores }, mt)
end

-- Two numbers up to count by chance, different ones if there are two.
local function two_of(count)
  local one = random(count)
  if count == 1 then
    return one, one
  end
  local two = random(count - 1)
  return one, two < one and two or two + 1
end

-- Two places by chance that are not out; any if these are all.
local function two_besides(count, out)
  local places = {}
  for at = 1, count do
    if not out[at] then
      places[#places + 1] = at
    end
  end
  if #places == 0 then
    return two_of(count)
  end
  local one, two = two_of(#places)
  return places[one], places[two]
end

function _M:pick(tried, _, shunned)
  local out, one, two = shunned or tried, nil, nil
  if out then
    one, two = two_besides(self.count, out)
  else
    one, two = two_of(self.count)
  end
  return self.places[one].rank <= self.places[two].rank and one or two
end

-- A failure costs as much as this many seconds, because a connection can fail fast.
local FAILURE = 1

--- Learns the seconds of an answer, or a failure.
function _M:left(name, seconds, failed)
  local score = self.scores[name]
  if not score or not (seconds or failed) then
    return
  end
  local now = ngx.now()
  local old = math.exp(-math.max(now - score.at, 0) / DECAY)
  learn(score, score.value * old + (failed and FAILURE or seconds * (1 - old)), now)
end

return _M
