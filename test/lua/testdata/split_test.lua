local expect = require("testdata.expect")
local split = require("sluice.split")

local tests = {}

local function share(weight, rules)
  return { backend = "b" .. weight, name = "n" .. weight, weight = weight, rules = rules }
end

local function rule(variable, value, takes)
  return { variable = variable, value = value, takes = takes }
end

-- How many of 10,000 requests go to which backend.
local function spread(of, var)
  local seen = {}
  for _ = 1, 10000 do
    local chosen = split.choose(of, var or {})
    local name = chosen and chosen.backend or "main"
    seen[name] = (seen[name] or 0) + 1
  end
  return seen
end

local function near(want, got)
  assert(math.abs((got or 0) - want) <= 100, "want " .. want .. " within 1 %, got " .. tostring(got))
end

tests["weights are kept within 1 %"] = function()
  math.randomseed(13)
  local seen = spread({ total = 100, shares = { share(20) } })
  near(2000, seen.b20)
  near(8000, seen.main)
  seen = spread({ total = 1000, shares = { share(100), share(300) } })
  near(1000, seen.b100)
  near(3000, seen.b300)
  near(6000, seen.main)
end

tests["no weight is no request, and all of it is all"] = function()
  expect.equal({ main = 10000 }, spread({ total = 100, shares = { share(0) } }))
  expect.equal({ b100 = 10000 }, spread({ total = 100, shares = { share(100) } }))
  expect.equal({ b150 = 10000 }, spread({ total = 100, shares = { share(150) } }))
end

local HEADER = { total = 100, shares = {
  share(0, { rule("http_x_canary", "always", true), rule("http_x_canary", "never", false) }),
  share(100, { rule("http_x_two", "yes", true), rule("http_x_two", "no", false) }),
} }

tests["headers come before weights"] = function()
  expect.equal({ b0 = 10000 }, spread(HEADER, { http_x_canary = "always" }))
  expect.equal({ b100 = 10000 }, spread(HEADER, { http_x_canary = "never" }))
  expect.equal({ b100 = 10000 }, spread(HEADER, { http_x_canary = "Always" }))
  expect.equal({ main = 10000 }, spread(HEADER, { http_x_two = "no" }))
  expect.equal({ b0 = 10000 }, spread(HEADER, { http_x_canary = "always", http_x_two = "yes" }))
end

tests["the first rule that holds decides"] = function()
  local of = { total = 100, shares = { share(50, {
    rule("http_x", "always", true), rule("http_x", "never", false), rule("cookie_beta", "always", true), rule("cookie_beta", "never", false),
  }) } }
  expect.equal({ b50 = 10000 }, spread(of, { http_x = "always", cookie_beta = "never" }))
  expect.equal({ main = 10000 }, spread(of, { http_x = "never", cookie_beta = "always" }))
  expect.equal({ b50 = 10000 }, spread(of, { http_x = "other", cookie_beta = "always" }))
  expect.equal({ main = 10000 }, spread(of, { cookie_beta = "never" }))
  near(5000, spread(of, { http_x = "other", cookie_beta = "Always" }).b50)
end

tests["a pattern matches a part of a header"] = function()
  local of = { total = 100, shares = { share(0, { { variable = "http_x", value = "", pattern = "(*LIMIT_MATCH=20000)^(de|at)-.+", takes = true }, rule("cookie_b", "never", false) }) } }
  expect.equal({ b0 = 10000 }, spread(of, { http_x = "de-by" }))
  expect.equal({ main = 10000 }, spread(of, { http_x = "xde-by" }))
  expect.equal({ main = 10000 }, spread(of, {}))
  expect.equal({ main = 10000 }, spread(of, { http_x = "always" }))
end

tests["a pattern that takes too many steps, or is none, gives no request to the canary"] = function()
  for _, pattern in ipairs({ "(*LIMIT_MATCH=20000)^(a+)+$", "(" }) do
    local of = { total = 100, shares = { share(100, { { variable = "http_x", value = "", pattern = pattern, takes = true } }) } }
    local chosen = split.choose(of, { http_x = ("a"):rep(60) .. "b" })
    expect.equal(nil, chosen, pattern)
  end
end

tests["several canaries of one Service: a cookie leads to the first"] = function()
  local of = { total = 100, cookie = { name = "s" }, tags = { m = 0, c = 1 }, shares = { share(0), share(1) } }
  expect.equal({ b0 = 10000 }, spread(of, { cookie_s = "key|c" }))
end

tests["a client stays with the backend of its cookie"] = function()
  local of = { total = 100, cookie = { name = "s" }, tags = { m = 0, c = 1 }, shares = { share(50) } }
  expect.equal({ main = 10000 }, spread(of, { cookie_s = "key|m" }))
  expect.equal({ b50 = 10000 }, spread(of, { cookie_s = "key|c" }))
  near(5000, spread(of, { cookie_s = "key|x" }).b50)
  near(5000, spread(of, { cookie_s = "key" }).b50)
end

return tests
