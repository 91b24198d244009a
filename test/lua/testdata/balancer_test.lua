local balancer = require("sluice.balancer")
local expect = require("testdata.expect")
local runtime = require("sluice.runtime")

local tests = {}

local ROUTE, KEY = "shop/web/front/80", "shop/front/80"

local function new(dicts, value)
  if value then
    assert(dicts.sluice_backends:safe_set(KEY, value))
  end
  return balancer.new(dicts, "/state/")
end

local function push(dicts, value)
  assert(dicts.sluice_backends:safe_set(KEY, value))
  assert(runtime.bump(dicts.sluice_runtime))
end

tests["the key is the route without the Ingress"] = function()
  expect.equal("shop/front/80", balancer.key("shop/web/front/80"))
  expect.equal("/default/80", balancer.key("//default/80"))
  expect.equal("odd", balancer.key("odd"))
  expect.equal("shop/front/80~0a1b", balancer.key("shop/front/80~0a1b"))
  expect.equal("shop/_a.test/80", balancer.key("/.sluice/mirror-0a1b/shop/_a.test/80"))
  expect.equal("/.sluice/mirror", balancer.key("/.sluice/mirror"))
  expect.equal("", balancer.key(""))
end

tests["a split that is missing is its main backend"] = function(dicts)
  local b = new(dicts, '[503,["10.0.0.1",80]]')
  local function main_of(key)
    local backend, name = b:choose(b:backend(key).split, {})
    expect.equal(nil, name)
    return backend
  end
  expect.equal({ "10.0.0.1" }, main_of(KEY .. "~split-0a1b").hosts)
  expect.equal({}, b:backend(KEY .. "~0a1b").hosts, "another backend")
  assert(dicts.sluice_backends:safe_set(KEY .. "~0a1b", '[503,["10.0.0.2",80]]'))
  assert(runtime.bump(dicts.sluice_runtime))
  expect.equal({ "10.0.0.2" }, main_of(KEY .. "~0a1b~cookie-0a1b").hosts)
  assert(main_of(KEY .. "~split-0a1b") == main_of(KEY .. "~cookie-0a1b"), "each has its own endpoints and its own turn")
end

tests["a split that was missing gets its shares when there is room"] = function(dicts)
  local b = new(dicts, '[503,["10.0.0.1",80]]')
  local key = KEY .. "~split-0a1b"
  expect.equal({}, b:backend(key).split.shares)
  local split = '{"empty":503,"endpoints":[],"split":{"main":"shop/front/80","total":100,"shares":[{"backend":"shop/can/80","name":"shop-can-80","weight":100}]}}'
  assert(dicts.sluice_backends:safe_set(key, split))
  assert(runtime.bump(dicts.sluice_runtime))
  expect.equal(1, #b:backend(key).split.shares)
end

tests["an unknown backend goes to 503"] = function(dicts)
  local b = new(dicts):backend(ROUTE)
  expect.equal(0, b.count, "count")
  expect.equal("unix:/state/run/503.sock", b.empty, "socket")
end

tests["an empty backend goes to its status"] = function(dicts)
  expect.equal("unix:/state/run/404.sock", new(dicts, "[404]"):backend(ROUTE).empty)
end

tests["a value that is broken goes to 503"] = function(dicts)
  for _, value in ipairs({ "", "{", "[]", "3", '"x"', "[200]" }) do
    dicts.sluice_backends:delete(KEY)
    local b = new(dicts, value):backend(ROUTE)
    expect.equal({ 0, "unix:/state/run/503.sock" }, { b.count, b.empty }, value)
  end
end

tests["each endpoint has its turn, whatever the start"] = function(dicts)
  local b = new(dicts, '[503,["10.0.0.1",80],["10.0.0.2",80],["[::1]",8080]]'):backend(ROUTE)
  local seen = {}
  for _ = 1, 6 do
    local at = b.picker:pick()
    local name = b.hosts[at] .. ":" .. b.ports[at]
    seen[name] = (seen[name] or 0) + 1
  end
  expect.equal({ ["10.0.0.1:80"] = 2, ["10.0.0.2:80"] = 2, ["[::1]:8080"] = 2 }, seen)
end

tests["starts differ"] = function(dicts)
  local starts = {}
  for _ = 1, 100 do
    local b = new(dicts, '[503,["10.0.0.1",80],["10.0.0.2",80],["10.0.0.3",80]]'):backend(ROUTE)
    starts[b.picker:pick()] = true
  end
  expect.equal({ true, true, true }, starts)
end

tests["nothing is read again until the version grows"] = function(dicts)
  local picker = new(dicts, '[503,["10.0.0.1",80]]')
  local before = picker:backend(ROUTE)
  assert(dicts.sluice_backends:safe_set(KEY, '[503,["10.0.0.2",80]]'))
  assert(picker:backend(ROUTE) == before, "read without need")
  assert(runtime.bump(dicts.sluice_runtime))
  expect.equal("10.0.0.2", picker:backend(ROUTE).hosts[1])
end

tests["the Ingresses of one Service share its endpoints and their turn"] = function(dicts)
  local picker = new(dicts, '[503,["10.0.0.1",80]]')
  local one, other = ROUTE, "shop/other/front/80"
  assert(picker:backend(one) == picker:backend(other), "want the same table")
  push(dicts, '[503,["10.0.0.2",80]]')
  expect.equal("10.0.0.2", picker:backend(other).hosts[1])
  assert(picker:backend(one) == picker:backend(other), "want the same table after a push")
end

tests["an equal value keeps its turn"] = function(dicts)
  local value = '[503,["10.0.0.1",80],["10.0.0.2",80],["10.0.0.3",80]]'
  local picker = new(dicts, value)
  local before = picker:backend(ROUTE)
  push(dicts, value)
  assert(picker:backend(ROUTE) == before, "want the same table")
end

tests["a retry takes what was not tried"] = function(dicts)
  local b = new(dicts, '[503,["10.0.0.1",80],["10.0.0.1",8080],["110.0.0.1",80],["[::1]",80]]'):backend(ROUTE)
  for _ = 1, 20 do
    local at = b.picker:pick(balancer.tried(b, "10.0.0.1:80, 110.0.0.1:80 : [::1]:80"))
    expect.equal("10.0.0.1:8080", b.hosts[at] .. ":" .. b.ports[at])
  end
end

tests["if all were tried, a retry takes the next"] = function(dicts)
  local b = new(dicts, '[503,["10.0.0.1",80]]'):backend(ROUTE)
  expect.equal(1, b.picker:pick(balancer.tried(b, "10.0.0.1:80")))
  expect.equal(1, b.picker:pick(balancer.tried(b, nil)))
end

tests["a turn goes on when endpoints change"] = function(dicts)
  local picker = new(dicts, '[503,["10.0.0.1",80],["10.0.0.2",80],["10.0.0.3",80],["10.0.0.4",80]]')
  local before = picker:backend(ROUTE).picker
  before.at = 2
  push(dicts, '[503,["10.0.0.1",80],["10.0.0.2",80],["10.0.0.3",80]]')
  expect.equal(3, picker:backend(ROUTE).picker:pick())
  push(dicts, '[503,["10.0.0.1",80]]')
  expect.equal(1, picker:backend(ROUTE).picker:pick())
end

tests["an unknown picker picks in turn"] = function(dicts)
  local b = new(dicts, '{"empty":503,"endpoints":[["10.0.0.1",80],["10.0.0.2",80]],"picker":{"picker":"nosuch"}}'):backend(ROUTE)
  local seen = {}
  for _ = 1, 4 do
    local at = b.picker:pick()
    seen[at] = (seen[at] or 0) + 1
  end
  expect.equal({ 2, 2 }, seen)
end

tests["a backend with a picker of its own and no endpoints goes to its status"] = function(dicts)
  local b = new(dicts, '{"empty":404,"endpoints":{},"picker":{"picker":"cookie"}}'):backend(ROUTE)
  expect.equal({ 0, "unix:/state/run/404.sock" }, { b.count, b.empty })
end

local function splitting(dicts, can)
  assert(dicts.sluice_backends:safe_set("shop/main/80", '[503,["10.0.0.1",80]]'))
  assert(dicts.sluice_backends:safe_set("shop/can/80", can))
  local self = balancer.new(dicts, "/state/")
  local split = '{"empty":503,"endpoints":[],"split":{"main":"shop/main/80","total":100,"shares":[{"backend":"shop/can/80","name":"shop-can-80","weight":100}]}}'
  assert(dicts.sluice_backends:safe_set(KEY, split))
  return self, self:backend(ROUTE).split
end

tests["a share gets its requests under its own name"] = function(dicts)
  local self, split = splitting(dicts, '[503,["10.0.0.2",80]]')
  local backend, name = self:choose(split, {})
  expect.equal({ "10.0.0.2", "shop-can-80" }, { backend.hosts[1], name })
end

tests["the main backend gets what a share without endpoints would"] = function(dicts)
  local self, split = splitting(dicts, "[503]")
  local backend, name = self:choose(split, {})
  expect.equal("10.0.0.1", backend.hosts[1])
  expect.equal(nil, name)
end

return tests
