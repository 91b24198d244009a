local cookie = require("sluice.picker.cookie")
local expect = require("testdata.expect")

local tests = {}

local function endpoints(count)
  local e = { hosts = {}, ports = {}, keys = {}, names = {}, count = count }
  for at = 1, count do
    e.hosts[at], e.ports[at], e.keys[at] = "10.0.0." .. at, 80, "10.0.0." .. at .. ":80"
    e.names[e.keys[at]] = at
  end
  return e
end

local function config(mode)
  return { picker = "cookie", mode = mode or "balanced", name = "shop-web-80", tag = "t", points = 20000 }
end

local function attributes(more)
  local c = { name = "SRV", path = "/" }
  for key, value in pairs(more or {}) do
    c[key] = value
  end
  return c
end

local SRV = attributes()

local function value_of(header)
  return header:match("^SRV=([^;]*)")
end

for _, mode in ipairs({ "balanced", "persistent" }) do
  local function picker(count)
    return cookie.new(endpoints(count), config(mode))
  end

  tests[mode .. ": a cookie leads to one endpoint, again and again"] = function()
    local p = picker(5)
    for _ = 1, 50 do
      local at, header = p:choose(nil, SRV, {})
      local var = { cookie_SRV = value_of(header) }
      for _ = 1, 3 do
        local again, set = p:choose(nil, SRV, var)
        expect.equal(at, again)
        expect.equal(nil, set)
      end
    end
  end

  tests[mode .. ": new clients are spread over all endpoints"] = function()
    local p, seen = picker(4), {}
    for _ = 1, 4000 do
      local at = p:choose(nil, SRV, {})
      seen[at] = (seen[at] or 0) + 1
    end
    for at = 1, 4 do
      assert((seen[at] or 0) > 500, "endpoint " .. at .. " gets " .. tostring(seen[at]))
    end
  end

  tests[mode .. ": whatever a client forges, it gets an endpoint"] = function()
    local p = picker(3)
    for _, value in ipairs({ "", "|", "x", "10.0.0.9:80", "10.0.0.9:80|t", "unix:/run/x|t", "|t", "a|b|c", ("y"):rep(9000) .. "|t", "\0\1|t" }) do
      local at = p:choose(nil, SRV, { cookie_SRV = value })
      assert(at >= 1 and at <= 3, value)
    end
  end

  tests[mode .. ": a cookie of another backend is replaced"] = function()
    local _, header = picker(3):choose(nil, SRV, { cookie_SRV = "1.2.3|other" })
    assert(value_of(header):find("|t$"), header)
  end

  tests[mode .. ": a retry goes to another endpoint where the controller says so"] = function()
    local p, moving = picker(3), attributes({ change_on_failure = true })
    for _ = 1, 50 do
      local at, header = p:choose(nil, moving, {})
      local other, set = p:choose({ [at] = true }, moving, { cookie_SRV = value_of(header) })
      assert(other ~= at and set, "want another endpoint and cookie")
    end
  end

  tests[mode .. ": a retry stays with the cookie otherwise, and without one avoids what was tried"] = function()
    local p = picker(3)
    for _ = 1, 50 do
      local at, header = p:choose(nil, SRV, {})
      expect.equal(at, (p:choose({ [at] = true }, SRV, { cookie_SRV = value_of(header) })))
      assert(p:choose({ [at] = true }, SRV, {}) ~= at, "tried again")
    end
  end

  tests[mode .. ": one endpoint that failed is tried again"] = function()
    expect.equal(1, (picker(1):choose({ true }, SRV, {})))
  end
end

for _, mode in ipairs({ "balanced", "persistent" }) do
  tests[mode .. ": a client leaves an ejected endpoint, and spreads over the others"] = function()
    local p, seen, clients = cookie.new(endpoints(4), config(mode)), {}, {}
    local out = { [2] = true }
    for client = 1, 2000 do
      local at, header = p:choose(nil, SRV, {})
      clients[client] = { at, value_of(header) }
    end
    for _, client in ipairs(clients) do
      local at = client[1]
      local instead, set = p:choose(nil, SRV, { cookie_SRV = client[2] }, out, out)
      if at == 2 then
        assert(instead ~= 2, "an ejected endpoint")
        seen[instead] = (seen[instead] or 0) + 1
        expect.equal(mode == "persistent", set ~= nil)
      else
        expect.equal(at, instead)
        expect.equal(nil, set)
      end
    end
    for _, at in ipairs({ 1, 3, 4 }) do
      assert((seen[at] or 0) > 30, "endpoint " .. at .. " gets " .. tostring(seen[at]))
    end
  end

  tests[mode .. ": with change on failure, a client stays where it went from an ejected endpoint"] = function()
    local p, moving = cookie.new(endpoints(3), config(mode)), attributes({ change_on_failure = true })
    for _ = 1, 50 do
      local at, header = p:choose(nil, moving, {})
      local out = { [at] = true }
      local other, set = p:choose(nil, moving, { cookie_SRV = value_of(header) }, out, out)
      assert(other ~= at and set, "want another endpoint and cookie")
      expect.equal(other, (p:choose(nil, moving, { cookie_SRV = value_of(set) })))
    end
  end

  tests[mode .. ": an ejected endpoint is worse than one that no new client should get"] = function()
    local p = cookie.new(endpoints(2), config(mode))
    for _ = 1, 50 do
      local at, header = p:choose(nil, SRV, {})
      assert(p:choose(nil, SRV, { cookie_SRV = value_of(header) }, nil, { [at] = true }) ~= at, "an ejected endpoint")
    end
  end
end

tests["balanced: a client comes back to an endpoint that was ejected"] = function()
  local p = cookie.new(endpoints(3), config())
  local at, header = p:choose(nil, SRV, {})
  local var, out = { cookie_SRV = value_of(header) }, { [at] = true }
  local instead = p:choose(nil, SRV, var, out, out)
  expect.equal(instead, (p:choose(nil, SRV, var, out, out)))
  expect.equal(at, (p:choose(nil, SRV, var)))
end

tests["persistent: a client stays when endpoints come, and gets another one when its own goes"] = function()
  local before = cookie.new(endpoints(3), config("persistent"))
  local at, header = before:choose(nil, SRV, {})
  local after = cookie.new(endpoints(10), config("persistent"), before)
  expect.equal(at, (after:choose(nil, SRV, { cookie_SRV = value_of(header) })))
  local gone = endpoints(1)
  gone.names, gone.keys = { ["10.0.9.9:80"] = 1 }, { "10.0.9.9:80" }
  local other, set = cookie.new(gone, config("persistent"), before):choose(nil, SRV, { cookie_SRV = value_of(header) })
  expect.equal(1, other)
  assert(set, "no new cookie")
end

tests["balanced: few clients move when an endpoint comes"] = function()
  local p, q, moved = cookie.new(endpoints(9), config()), cookie.new(endpoints(10), config()), 0
  for client = 1, 1000 do
    local var = { cookie_SRV = client .. "|t" }
    if p:choose(nil, SRV, var) ~= q:choose(nil, SRV, var) then
      moved = moved + 1
    end
  end
  assert(moved > 20 and moved < 220, moved .. " of 1000 moved")
end

tests["balanced: only the clients of an endpoint that goes move"] = function()
  local moved, all, left = 0, endpoints(10), endpoints(9) -- the last one goes
  local p, q = cookie.new(all, config()), cookie.new(left, config())
  for client = 1, 10000 do
    local var = { cookie_SRV = client .. "|t" }
    local was, is = p:choose(nil, SRV, var), q:choose(nil, SRV, var)
    if was ~= is then
      expect.equal(10, was)
      moved = moved + 1
    end
  end
  io.stderr:write(("cookie: %.1f %% of clients moved when one of ten endpoints went\n"):format(moved / 100))
  assert(moved > 500 and moved < 1500, moved .. " of 10000 moved")
end

tests["balanced: the controller limits the points of the ring"] = function()
  local limited = config()
  limited.points = 40
  expect.equal(40, cookie.new(endpoints(4), limited).ring.count)
  expect.equal(640, cookie.new(endpoints(4), config()).ring.count)
  limited.points = 2
  expect.equal(4, cookie.new(endpoints(4), limited).ring.count, "each endpoint has one at least")
end

tests["a cookie of ingress-nginx without a tag is a key"] = function()
  local _, header = cookie.new(endpoints(3), config()):choose(nil, SRV, { cookie_SRV = "garbage" })
  expect.equal(nil, header)
end

tests["paths with other cookies lead to the same endpoints, and without one to each in turn"] = function()
  local p = cookie.new(endpoints(5), config())
  for client = 1, 50 do
    local value = client .. "|t"
    local at = p:choose(nil, SRV, { cookie_SRV = value })
    expect.equal(at, (p:choose(nil, attributes({ name = "OTHER", path = "/x" }), { cookie_OTHER = value })))
  end
  local seen = {}
  for _ = 1, 5 do
    seen[p:pick()] = true
  end
  expect.equal({ true, true, true, true, true }, seen)
end

tests["the attributes of the cookie"] = function()
  local function header(more, agent, https)
    return cookie.new(endpoints(1), config()):header("k", attributes(more), agent, https)
  end
  expect.equal("SRV=k|t; Path=/; HttpOnly", header())
  expect.equal("SRV=k|t; Path=/; Secure; HttpOnly", header(nil, nil, true))
  expect.equal("SRV=k|t; Max-Age=60; Domain=a.example; Path=/x; Secure; HttpOnly; SameSite=Lax", header({ max_age = 60, domain = "a.example", path = "/x", secure = true, samesite = "Lax" }))
  assert(header({ expires = 60 }):find("; Expires=%a+, %d%d%-%a+%-%d+ %d%d:%d%d:%d%d GMT; Path=/"), header({ expires = 60 }))
  local none = { samesite = "None", conditional = true }
  expect.equal("SRV=k|t; Path=/; HttpOnly; SameSite=None", header(none, "Mozilla/5.0 (X11) Chrome/120.0"))
  for _, agent in ipairs({
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/66.0.3359.181 Safari/537.36",
    "Mozilla/5.0 (X11) Chromium/51.0 Chrome/51.0", "Mozilla/5.0 (iPhone; CPU iPhone OS 12_4 like Mac OS X) Version/12.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Safari/605.1.15",
  }) do
    expect.equal("SRV=k|t; Path=/; HttpOnly", header(none, agent), agent)
    expect.equal("SRV=k|t; Path=/; HttpOnly; SameSite=None", header({ samesite = "None" }, agent), agent)
  end
end

return tests
