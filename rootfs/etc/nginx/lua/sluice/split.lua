--- Chooses one of several backends for a request: the main one, or one of the shares.
--
-- The cookie of the main backend decides first, then the first rule of a share that
-- holds, then the weights.
local _M = {}

-- The "takes" of the first rule {variable, value, takes} that holds; nil if none does.
local function decided(rules, var)
  for _, rule in ipairs(rules or {}) do
    if var[rule.variable] == rule.value then
      return rule.takes
    end
  end
end

-- The place of the backend whose tag is in the cookie, nil for none.
local function held(split, var)
  local value = split.cookie and var["cookie_" .. split.cookie.name]
  local tag = value and value:match("|(.*)$")
  return tag and (split.tags[tag] or nil)
end

-- A share by weight, without those that a rule ruled out; nil for the main backend.
local function drawn(split, out)
  local at = math.random(split.total)
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
-- rules = {{variable, value, takes}}}}}; a tag leads to the place of a share, 0 is the main backend
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
