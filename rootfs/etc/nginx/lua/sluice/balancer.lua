--- Picks the endpoint that a request goes to: round robin, each worker from a
-- random start, and at a retry one that this request has not tried.
--
-- A worker keeps what it decoded until the version of the shared state grows,
-- so that the usual request costs one read of a number.
local peer = require("ngx.balancer")
local wire = require("sluice.wire")

local get_last_failure = peer.get_last_failure
local set_current_peer = peer.set_current_peer
local set_more_tries = peer.set_more_tries

local _M = {}
local mt = { __index = _M }

--- @tparam table dicts holds sluice_runtime and sluice_backends
-- @tparam string state folder that holds run/503.sock, run/404.sock and run/508.sock
function _M.new(dicts, state)
  return setmetatable({
    runtime = dicts.sluice_runtime,
    backends = dicts.sluice_backends,
    sockets = { [503] = "unix:" .. state .. "run/503.sock", [404] = "unix:" .. state .. "run/404.sock", [508] = "unix:" .. state .. "run/508.sock" },
    routes = {},
  }, mt)
end

--- The key of the backend that "<namespace>/<ingress>/<service>/<port>" names.
function _M.key(route)
  return (route:gsub("^([^/]*)/[^/]*/", "%1/", 1))
end

-- A backend that is not held is one without endpoints.
local function decode(raw, sockets)
  local value = raw and wire.endpoints(raw) or { 503 }
  local backend = { raw = raw, hosts = {}, ports = {}, names = {}, count = #value - 1, at = 0 }
  for at = 1, backend.count do
    local host, port = value[at + 1][1], value[at + 1][2]
    backend.hosts[at], backend.ports[at] = host, port
    backend.names[host .. ":" .. port] = at
  end
  backend.empty = sockets[value[1]]
  if backend.count > 1 then
    backend.at = math.random(backend.count) - 1
  end
  return backend
end

-- What is decoded stays as it is, with its turn, while its value is the same.
local function refresh(self, route, version)
  local held = self.routes[route]
  local key = held and held.key or _M.key(route)
  local raw = self.backends:get(key)
  if not held or held.raw ~= raw then
    held = decode(raw, self.sockets)
    held.key = key
    self.routes[route] = held
  end
  held.version = version
  return held
end

--- @tparam string route
-- @treturn table {hosts, ports, count, empty = where to go if count is 0}
function _M:backend(route)
  -- Read before the value: a push between the two is seen next time again.
  local version = self.runtime:get("version") or 0
  local backend = self.routes[route]
  if backend and backend.version == version then
    return backend
  end
  return refresh(self, route, version)
end

--- @treturn number whose turn it is
function _M.take(backend)
  local at = backend.at + 1
  if at > backend.count then
    at = 1
  end
  backend.at = at
  return at
end

--- @tparam string|nil tried the addresses this request went to ($upstream_addr)
-- @treturn number the next in turn that was not tried; if all were, the next
function _M.take_other(backend, tried)
  local seen = {}
  for name in (tried or ""):gmatch("[^, ]+") do
    local at = backend.names[name]
    if at then
      seen[at] = true
    end
  end
  local at
  for _ = 1, backend.count do
    at = _M.take(backend)
    if not seen[at] then
      return at
    end
  end
  return _M.take(backend)
end

-- The answer of our own server on a unix socket, which speaks plain HTTP.
local function answer(socket)
  if peer.set_upstream_tls then
    peer.set_upstream_tls(false)
  end
  return set_current_peer(socket)
end

-- More tries than anybody allows by proxy_next_upstream_tries.
local ENDLESS = 10000

-- As ingress-nginx does, a request is tried as often as
-- proxy_next_upstream_tries says, with fewer endpoints again on the same ones.
-- Where that sets no limit, each endpoint gets one try.
local function allow_retries(count)
  local _, cut = set_more_tries(ENDLESS)
  if not cut then
    set_more_tries(count - 1)
  end
end

-- How often a request came through us is a header that nobody else can write; this
-- stands for too often, which is a loop.
local LOOP = "508"

local function send(self)
  if ngx.var.hops == LOOP then
    return answer(self.sockets[508])
  end
  local backend = self:backend(ngx.var.route or "")
  local count = backend.count
  if count == 0 then
    return answer(backend.empty)
  end
  local at
  if get_last_failure() then
    at = _M.take_other(backend, ngx.var.upstream_addr)
  else
    at = _M.take(backend)
    allow_retries(count)
  end
  return set_current_peer(backend.hosts[at], backend.ports[at])
end

-- This worker's balancer, made at its first request.
local worker

--- Sends the request on its way. Belongs into balancer_by_lua.
function _M.run()
  worker = worker or _M.new(ngx.shared, ngx.config.prefix())
  local ok, err = send(worker)
  if not ok then
    ngx.log(ngx.ERR, "sluice: ", err)
    return ngx.exit(ngx.ERROR)
  end
end

return _M
