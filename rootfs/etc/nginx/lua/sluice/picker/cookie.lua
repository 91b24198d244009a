--- Picks the endpoint that a cookie names, and gives a cookie to clients without one.
--
-- As in ingress-nginx, the value of the cookie is "<key>|<tag>"; the tag names the
-- backend. In the mode "balanced" the key is hashed; in the mode "persistent" it is the
-- hash of an endpoint. So any key of a client leads to an endpoint of the backend.
local ring = require("sluice.ring")
local round_robin = require("sluice.picker.round_robin")
local samesite = require("sluice.samesite")

local _M = {}
local mt = { __index = _M }

--- @tparam table config {mode, name, tag, points = limit of the ring, nil for "persistent"}
function _M.new(endpoints, config, before)
  local self = setmetatable({ tag = config.tag }, mt)
  self.turns = round_robin.new(endpoints, nil, before and before.turns)
  if config.mode == "persistent" then
    self.places, self.keys = {}, {}
    for endpoint, at in pairs(endpoints.names) do
      local key = ngx.md5(config.name .. endpoint)
      self.places[key], self.keys[at] = at, key
    end
  else
    self.ring = ring.new(endpoints.keys, config.points)
  end
  return self
end

-- The key in the value of a cookie: all of it without a tag, none with the tag of
-- another backend.
local function key_of(value, tag)
  if not value or value == "" then
    return nil
  end
  local bar = value:find("|", 1, true)
  if not bar then
    return value
  end
  return value:sub(bar + 1) == tag and value:sub(1, bar - 1) or nil
end

-- The place that a key leads to, nil if none.
local function find(self, key)
  if self.ring then
    return self.ring:find(key)
  end
  return self.places[key]
end

-- The maximum of random keys for finding an endpoint that was not tried.
local DRAWS = 20

local function draw(self, tried)
  local key, at
  for _ = 1, DRAWS do
    key = ngx.now() .. "." .. ngx.worker.pid() .. "." .. math.random(999999999)
    at = self.ring:find(key)
    if not tried or not tried[at] then
      break
    end
  end
  return at, key
end

local function assign(self, tried)
  if self.ring then
    return draw(self, tried)
  end
  local at = self.turns:pick(tried)
  return at, self.keys[at]
end

--- The header Set-Cookie for a key.
-- @tparam table c the cookie: {name, expires, max_age, path, domain, samesite,
-- conditional, secure}
function _M:header(key, c, agent, https)
  local parts = { c.name .. "=" .. key .. "|" .. self.tag }
  local function add(text)
    parts[#parts + 1] = text
  end
  if c.expires then
    add("Expires=" .. ngx.cookie_time(ngx.time() + c.expires))
  end
  if c.max_age then
    add("Max-Age=" .. c.max_age)
  end
  if c.domain then
    add("Domain=" .. c.domain)
  end
  add("Path=" .. c.path)
  if c.secure or https then
    add("Secure")
  end
  add("HttpOnly")
  if c.samesite and not (c.conditional and c.samesite == "None" and samesite.misread(agent)) then
    add("SameSite=" .. c.samesite)
  end
  return table.concat(parts, "; ")
end

--- The endpoint of the cookie, or another one at a retry with change_on_failure. An
-- ejected endpoint counts as gone: with a ring the next one gets its clients meanwhile, and
-- otherwise they get another cookie.
-- @tparam table cookie as header() takes it, and change_on_failure
-- @tparam table var ngx.var
-- @tparam table|nil ejected the places of ejected endpoints, but not all
-- @treturn number
-- @treturn string|nil the header Set-Cookie, if the client needs one
function _M:choose(tried, cookie, var, shunned, ejected)
  local key = key_of(var["cookie_" .. cookie.name], self.tag)
  local at, gone = key and find(self, key), nil
  if at and ejected and ejected[at] then
    gone = ejected
  end
  if at and not (cookie.change_on_failure and (tried or gone)) then
    if not gone then
      return at
    elseif self.ring then
      return self.ring:first(key, 1, gone)[1] or at
    end
  end
  at, key = assign(self, shunned or gone or tried)
  return at, self:header(key, cookie, var.http_user_agent, var.https == "on")
end

--- Without a cookie, endpoints are picked in turn.
function _M:pick(tried, cookie, shunned, ejected)
  if not cookie then
    return self.turns:pick(tried, nil, shunned)
  end
  local at, header = self:choose(tried, cookie, ngx.var, shunned, ejected)
  if header then
    ngx.header["Set-Cookie"] = header
  end
  return at
end

return _M
