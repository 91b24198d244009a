--- Sends each request to an endpoint of its backend. A picker (picker/*.lua) chooses
-- the endpoint, and split.lua one of several backends.
--
-- A worker keeps decoded backends until the version of the shared state grows. Most
-- requests only read that number.
local peer = require("ngx.balancer")
local ejection = require("sluice.ejection")
local runtime = require("sluice.runtime")
local slow_start = require("sluice.slow_start")
local split = require("sluice.split")
local turns = require("sluice.turns")
local wire = require("sluice.wire")

local get_last_failure = peer.get_last_failure
local set_current_peer = peer.set_current_peer
local set_more_tries = peer.set_more_tries

local _M = {}
local mt = { __index = _M }

-- The pickers by their names in a push.
local PICKERS = {
  round_robin = require("sluice.picker.round_robin"),
  cookie = require("sluice.picker.cookie"),
  hash = require("sluice.picker.hash"),
  ewma = require("sluice.picker.ewma"),
  least_conn = require("sluice.picker.least_conn"),
}

--- @tparam table dicts holds sluice_runtime and sluice_backends
-- @tparam string state folder that holds run/503.sock, run/404.sock and run/508.sock
function _M.new(dicts, state)
  return setmetatable({
    version = runtime.version(dicts.sluice_runtime),
    backends = dicts.sluice_backends,
    sockets = { [503] = "unix:" .. state .. "run/503.sock", [404] = "unix:" .. state .. "run/404.sock", [508] = "unix:" .. state .. "run/508.sock" },
    backend_of = {}, -- by route
    decoded = {}, -- by key: the routes of one Service share its backend
  }, mt)
end

--- The key of the backend that "<namespace>/<ingress>/<service>/<port>" or
-- "/.sluice/<name>/<key>" names; any other text is a key.
function _M.key(text)
  local namespace, port = text:match("^([^/]*)/[^/]*/([^/]*/[^/]*)$")
  if namespace then
    return namespace .. "/" .. port
  end
  return text:match("^/%.sluice/[^/]*/(.*)$") or text
end

-- The picker that the controller asks for. One of the same name hands over its state.
local function picker_of(backend, config, before)
  local name = config and config.picker or "round_robin"
  local kind = PICKERS[name]
  if not kind then
    ngx.log(ngx.ERR, "sluice: there is no picker ", name, ": endpoints are picked in turn")
    name, kind = "round_robin", PICKERS.round_robin
  end
  backend.kind = name
  return kind.new(backend, config, before and before.kind == name and before.picker or nil)
end

-- A split for which there was no room sends all requests to its main backend. The keys of
-- splits are those of their main backends with "~cookie-<hash>" or "~split-<hash>".
local function without_room(key)
  local main, found = key:gsub("~%a+%-%x+$", "")
  return found > 0 and { main = main, total = 1, shares = {} } or nil
end

-- The parts of a backend that know its endpoints. They outlive a push.
local function prepare(backend, config, before)
  backend.picker = picker_of(backend, config, before)
  if config and config.max_fails then
    backend.ejection = ejection.new(backend, config, before and before.ejection)
  end
  if config and config.slow_start then
    backend.slow_start = slow_start.new(backend, config, before and before.slow_start)
  end
  backend.watched = backend.ejection ~= nil or backend.picker.left ~= nil
end

-- A key without a value is a backend without endpoints.
local function decode(key, raw, sockets, before)
  local value = raw and wire.kept(raw) or { empty = 503, endpoints = {}, split = without_room(key) }
  local backend = { raw = raw, hosts = {}, ports = {}, names = {}, keys = {}, count = #value.endpoints, split = value.split, status = value.empty }
  for at, endpoint in ipairs(value.endpoints) do
    local host, port = endpoint[1], endpoint[2]
    local name = host .. ":" .. port
    backend.hosts[at], backend.ports[at], backend.keys[at] = host, port, name
    backend.names[name] = at
  end
  backend.empty = sockets[value.empty]
  if backend.count > 0 then
    prepare(backend, value.picker, before)
  end
  return backend
end

-- While its value is the same, a backend stays as it is, with its turn.
local function refresh(self, route, version)
  local key = _M.key(route)
  local backend = self.decoded[key]
  if not backend or backend.version ~= version then
    local raw = self.backends:get(key)
    if not backend or backend.raw ~= raw then
      backend = decode(key, raw, self.sockets, backend)
      self.decoded[key] = backend
    end
    backend.version = version
  end
  self.backend_of[route] = backend
  return backend
end

--- @tparam string route
-- @treturn table {hosts, ports, count, picker, empty = where to go if count is 0}
function _M:backend(route)
  -- The version is read first: after a push between the two reads, the next request
  -- reads both again.
  local version = self.version[0]
  local backend = self.backend_of[route]
  if backend and backend.version == version then
    return backend
  end
  return refresh(self, route, version)
end

--- @tparam string|nil addresses the value of $upstream_addr
-- @treturn table the places of the endpoints that the request was sent to
function _M.tried(backend, addresses)
  local seen = {}
  for name in (addresses or ""):gmatch("[^, ]+") do
    local at = backend.names[name]
    if at then
      seen[at] = true
    end
  end
  return seen
end

-- Sends the request to one of our own servers, which speak plain HTTP on unix sockets.
local function answer(socket)
  if peer.set_upstream_tls then
    peer.set_upstream_tls(false)
  end
  return set_current_peer(socket)
end

-- ENDLESS is more than any proxy_next_upstream_tries. MOST is the maximum of tries, so
-- that dead endpoints of one Service cannot keep a worker busy.
local ENDLESS, MOST = 10000, 16

-- As in ingress-nginx, proxy_next_upstream_tries is the number of tries; with fewer
-- endpoints, some get several. Without a limit, each endpoint gets one try.
local function allow_retries(count)
  local _, cut = set_more_tries(MOST - 1)
  if cut or count >= MOST then
    return
  end
  _, cut = set_more_tries(ENDLESS)
  set_more_tries((cut and MOST or count) - 1)
end

local function size_of(set)
  local count = 0
  for _ in pairs(set) do
    count = count + 1
  end
  return count
end

-- The places that were tried, and those of endpoints that are ejected or new. nil if there
-- are no such endpoints, or if these are all.
local function shunned(backend, tried)
  local out
  if backend.ejection then
    out = backend.ejection:add(out)
  end
  if backend.slow_start then
    out = backend.slow_start:add(out)
  end
  if not out then
    return nil
  end
  for at in pairs(tried or {}) do
    out[at] = true
  end
  return size_of(out) < backend.count and out or nil
end

-- The places of ejected endpoints. nil if there are none, or if these are all.
local function ejected(backend)
  local out = backend.ejection and backend.ejection:add(nil)
  return out and size_of(out) < backend.count and out or nil
end

local function pick(backend, tried, cookie)
  if backend.ejection or backend.slow_start then
    return backend.picker:pick(tried, cookie, shunned(backend, tried), cookie and ejected(backend))
  end
  return backend.picker:pick(tried, cookie)
end

-- Picks an endpoint that was not tried. $upstream_addr is read once, because nginx
-- builds it anew for each read.
local function pick_again(backend, cookie, failure)
  local ctx = ngx.ctx
  if backend.watched then
    turns.retry(failure == "failed")
  end
  ctx.sluice_tried = ctx.sluice_tried or _M.tried(backend, ngx.var.upstream_addr)
  local at = pick(backend, ctx.sluice_tried, cookie)
  ctx.sluice_tried[at] = true
  return at
end

-- The value of $hops for a request in a loop: it came through us too often.
local LOOP = "508"

-- A request in a loop ends here.
local function send(self, looped, backend, cookie)
  if looped then
    return answer(self.sockets[508])
  end
  local count = backend.count
  if count == 0 then
    return answer(backend.empty)
  end
  local at
  local failure = get_last_failure()
  if failure then
    at = pick_again(backend, cookie, failure)
  else
    at = pick(backend, nil, cookie)
    allow_retries(count)
  end
  if backend.watched then
    turns.take(backend, at)
  end
  return set_current_peer(backend.hosts[at], backend.ports[at])
end

--- Chooses a backend of a split. A share without endpoints gets no request.
-- @treturn table the backend
-- @treturn string|nil the name of the share, nil for the main backend
function _M:choose(of, var)
  local share = split.choose(of, var)
  if share then
    local backend = self:backend(share.backend)
    if backend.count > 0 then
      return backend, share.name
    end
  end
  return self:backend(of.main)
end

-- The backend that a key names, or the one that a request gets of a split. All tries of a
-- request go to the same one.
local function chosen(self, key)
  local backend = self:backend(key or "")
  local of = backend.split
  if not of then
    return backend
  elseif not of.shares[1] then
    return self:backend(of.main), of.cookie
  end
  local ctx = ngx.ctx
  if not ctx.sluice_backend then
    local name
    ctx.sluice_backend, name = self:choose(of, ngx.var)
    if name then
      ngx.var.proxy_alternative_upstream_name = name
    end
  end
  return ctx.sluice_backend, of.cookie
end

-- This worker's balancer, made at its first request.
local worker

local function this_worker()
  worker = worker or _M.new(ngx.shared, ngx.config.prefix())
  return worker
end

local function finish(ok, err)
  if not ok then
    ngx.log(ngx.ERR, "sluice: ", err)
    return ngx.exit(ngx.ERROR)
  end
end

--- Sends the request to the backend of $route. For balancer_by_lua. $loop has a value only for a
-- request in a loop: nginx sets it when it evaluates $hops for the headers, before the balancer.
function _M.run()
  local self, var = this_worker(), ngx.var
  return finish(send(self, var.loop, self:backend(var.route or "")))
end

--- Sends the request to the backend of $backend: a split, or one that does not pick in
-- turn.
function _M.run_by_key()
  local self, var = this_worker(), ngx.var
  return finish(send(self, var.loop, chosen(self, var.backend)))
end

--- Reports whether there is no endpoint for a request.
-- @tparam string|nil key $route, or $backend
function _M.is_empty(key)
  return chosen(this_worker(), key).count == 0
end

-- LuaJIT does not compile the text of a file of entry/, so functions read what it would pass.

--- Returns "1" if there is no endpoint for a request, and "" otherwise. The argument of
-- set_by_lua is $route or $backend.
function _M.no_endpoints()
  return _M.is_empty(ngx.arg[1]) and "1" or ""
end

--- Answers a request in a loop, or without an endpoint. Our own servers only speak HTTP, so a
-- request by another protocol is answered before the balancer runs. Only if the last endpoint
-- leaves in between, the client gets 502. For rewrite_by_lua.
-- @tparam string name "route" or "backend", a variable
function _M.refuse(name)
  local var = ngx.var
  if var.hops == LOOP then
    return ngx.exit(508)
  end
  local backend = chosen(this_worker(), var[name])
  if backend.count == 0 then
    return ngx.exit(backend.status or 503)
  end
end

--- Sends a subrequest to its backend. It shares all variables of its parent but $uri,
-- the path of its location: "/.sluice/<name>/<key>", with the key of the backend.
-- A request that came by X-Accel-Redirect gets 404.
function _M.run_by_uri()
  local self, var = this_worker(), ngx.var
  if not ngx.is_subrequest then
    return finish(answer(self.sockets[404]))
  end
  return finish(send(self, var.hops == LOOP, self:backend(var.uri)))
end

return _M
