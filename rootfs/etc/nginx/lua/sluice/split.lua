--- Chooses one of several backends for a request: the main one, or one of the shares.
--
-- The rules, in this order: the cookie of the main backend says which backend the
-- client has; then for each share the values of headers by which a request is never
-- or always its; then the weights.
local _M = {}

-- Whether one of the conditions {variable, value} holds; nil is none.
local function any(conditions, var)
  for _, condition in ipairs(conditions or {}) do
    if var[condition.variable] == condition.value then
      return true
    end
  end
  return false
end

-- The backend whose tag is in the cookie.
local function held(split, var)
  local value = split.cookie and var["cookie_" .. split.cookie.name]
  local tag = value and value:match("|(.*)$")
  return tag and (split.tags[tag] or nil)
end

-- The share of a request that no header decided about, by weight.
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
-- always, never}}}: tags give the place of a share, 0 for the main backend
-- @tparam table var ngx.var
-- @treturn table|nil the share; nil for the main backend
function _M.choose(split, var)
  local place = held(split, var)
  if place then
    return split.shares[place]
  end
  local out = {}
  for at, share in ipairs(split.shares) do
    if any(share.never, var) then
      out[at] = true
    elseif any(share.always, var) then
      return share
    end
  end
  return drawn(split, out)
end

return _M
