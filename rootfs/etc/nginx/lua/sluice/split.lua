--- Chooses one of several backends for a request: the main one, or one of the shares.
--
-- The cookie of the main backend decides first, then the first rule of a share that
-- holds, then the weights.
local _M = {}

-- Whether a rule holds. A pattern that takes too many steps is an error.
local function holds(rule, var)
  local value = var[rule.variable]
  if not rule.pattern then
    return value == rule.value
  end
  if not value then
    return false
  end
  local from, _, err = ngx.re.find(value, rule.pattern, "jo")
  return from ~= nil, err
end

-- The "takes" of the first rule {variable, value, pattern, takes} that holds; nil if none
-- does, false after an error.
local function decided(rules, var)
  for _, rule in ipairs(rules or {}) do
    local found, err = holds(rule, var)
    if err then
      ngx.log(ngx.WARN, "sluice: a header cannot be compared with the pattern of a canary: ", err)
      return false
    elseif found then
      return rule.takes
    end
  end
end

-- The place of the backend whose tag is in the cookie, nil for none.
local function held(split, var)
  local value = split.cookie and var["cookie_" .. split.cookie.name]
  local bar = value and value:find("|", 1, true)
  return bar and (split.tags[value:sub(bar + 1)] or nil)
end

-- The golden ratio: the parts of its multiples after the decimal point are spread evenly,
-- so that shares are exact also over few requests.
local STEP = (math.sqrt(5) - 1) / 2

-- The next number from 1 to a total. Each worker starts at a random one.
local function next_number(split)
  split.at = ((split.at or math.random()) + STEP) % 1
  return math.floor(split.at * split.total) + 1
end

-- A share by weight, without those that a rule ruled out; nil for the main backend.
local function drawn(split, out)
  local at = next_number(split)
  for place, share in ipairs(split.shares) do
    if not out[place] then
      at = at - share.weight
      if at <= 0 then
        return share
      end
    end
  end
end

--- @tparam table split {main, total, cookie = {name, ...}, tags, shares = {{backend, name, weight,
-- rules = {{variable, value or pattern, takes}}}}}; a tag leads to the place of a share, 0 is the main backend
-- @tparam table var ngx.var
-- @treturn table|nil the share; nil for the main backend
function _M.choose(split, var)
  local place = held(split, var)
  if place then
    return split.shares[place]
  end
  local out = {}
  for at, share in ipairs(split.shares) do
    local takes = decided(share.rules, var)
    if takes then
      return share
    end
    out[at] = takes == false
  end
  return drawn(split, out)
end

return _M
