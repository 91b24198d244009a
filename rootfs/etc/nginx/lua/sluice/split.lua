--- Chooses one of several backends for a request: the main one, or one of the shares.
--
-- The rules, in this order: the cookie of the main backend says which backend the
-- client has; then the rules of each share, of which the first that holds decides; then
-- the weights.
local _M = {}

-- Whether a share takes a request by the first rule {variable, value, takes} that holds;
-- nil if none does.
local function decided(rules, var)
  for _, rule in ipairs(rules or {}) do
    if var[rule.variable] == rule.value then
      return rule.takes
    end
  end
end

-- The backend whose tag is in the cookie.
local function held(split, var)
  local value = split.cookie and var["cookie_" .. split.cookie.name]
  local tag = value and value:match("|(.*)$")
  return tag and (split.tags[tag] or nil)
end

-- The share of a request that no rule decided about, by weight.
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
-- rules = {{variable, value, takes}}}}}: tags give the place of a share, 0 for the main backend
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
