-- The pickers that go by the work of endpoints, and what leaves endpoints out.
local ejection = require("sluice.ejection")
local ewma = require("sluice.picker.ewma")
local expect = require("testdata.expect")
local least_conn = require("sluice.picker.least_conn")
local slow_start = require("sluice.slow_start")

local tests = {}

local function endpoints(...)
  local e = { keys = { ... }, names = {}, count = select("#", ...) }
  for at, name in ipairs(e.keys) do
    e.names[name] = at
  end
  return e
end

-- Runs a test with a clock of its own, which advance() sets forward.
local function timed(test)
  return function()
    local real, now = ngx.now, 1000
    ngx.now = function()
      return now
    end
    local ok, err = pcall(test, function(seconds)
      now = now + seconds
    end)
    ngx.now = real
    assert(ok, err)
  end
end

local function counts(picker, requests, tried)
  local seen = {}
  for _ = 1, requests do
    local at = picker:pick(tried)
    seen[at] = (seen[at] or 0) + 1
  end
  return seen
end

tests["least_conn: the endpoint with the fewest open requests is next"] = function()
  local of = endpoints("a", "b", "c")
  local p, open = least_conn.new(of), {}
  for _ = 1, 9 do
    local at = p:pick()
    open[at] = (open[at] or 0) + 1
    p:took(of.keys[at])
  end
  expect.equal({ 3, 3, 3 }, open)
  p:left("b")
  expect.equal(2, p:pick())
  p:took("b")
  p:left("c")
  p:left("c")
  expect.equal({ [3] = 5 }, counts(p, 5))
end

tests["least_conn: idle endpoints get requests in turn"] = function()
  expect.equal({ 5, 5, 5 }, counts(least_conn.new(endpoints("a", "b", "c")), 15))
end

tests["least_conn: open requests are known after a push, and an end is never counted twice"] = function()
  local before = least_conn.new(endpoints("a", "b"))
  before:took("a")
  before:took("a")
  local after = least_conn.new(endpoints("a", "b", "c"), nil, before)
  expect.equal(nil, counts(after, 10)[1])
  before:left("a")
  before:left("a")
  before:left("a")
  expect.equal({}, after.open)
end

tests["least_conn: a turn that the garbage collection ends during a pick counts"] = function()
  local ffi = require("ffi")
  local p, real = least_conn.new(endpoints("a", "b")), ffi.C
  for _ = 1, 2 do
    p:pick()
    p:took("a")
    p:took("b")
  end
  ffi.C = {
    wmemchr = function(...)
      local found = real.wmemchr(...)
      if found ~= nil then
        p:left("b")
      end
      return found
    end,
  }
  local ok, err = pcall(p.pick, p)
  ffi.C = real
  assert(ok, err)
  expect.equal({ [2] = 5 }, counts(p, 5))
end

tests["least_conn: what was tried is not, unless it is all"] = function()
  local p = least_conn.new(endpoints("a", "b"))
  p:took("b")
  expect.equal(2, p:pick({ true }))
  expect.equal(1, p:pick({ true, true }))
end

tests["least_conn: always one of those with the fewest, each in turn"] = function()
  local names = { "a", "b", "c", "d", "e" }
  local p, open = least_conn.new(endpoints(unpack(names))), { 0, 0, 0, 0, 0 }
  local function fewest()
    return math.min(unpack(open))
  end
  math.randomseed(7)
  for step = 1, 20000 do
    local out = step % 7 == 0 and { [math.random(5)] = true } or nil
    local last, at = p.last, p:pick(out)
    if not out then
      expect.equal(fewest(), open[at])
      for between = last + 1, last + 5 do
        local place = (between - 1) % 5 + 1
        if place == at then
          break
        end
        assert(open[place] > open[at], "an endpoint is passed over")
      end
    end
    p:took(names[at])
    open[at] = open[at] + 1
    for _ = 1, math.random(0, 2) do
      local done = math.random(5)
      if open[done] > 0 then
        p:left(names[done])
        open[done] = open[done] - 1
      end
    end
    if step % 1000 == 0 then
      p = least_conn.new(endpoints(unpack(names)), nil, p)
    end
  end
end

tests["ewma: the faster endpoint gets more"] = timed(function(advance)
  local p = ewma.new(endpoints("a", "b", "c"))
  for _ = 1, 50 do
    advance(0.5)
    p:left("a", 0.1)
    p:left("b", 0.1)
    p:left("c", 2)
  end
  expect.equal(nil, counts(p, 300)[3])
end)

tests["ewma: a slow endpoint gets another chance while it is idle"] = timed(function(advance)
  local p = ewma.new(endpoints("a", "b"))
  advance(10)
  p:left("a", 5)
  advance(60)
  p:left("b", 0.1)
  expect.equal({ 50 }, counts(p, 50))
end)

tests["ewma: a failure counts, however fast it was"] = timed(function(advance)
  local p = ewma.new(endpoints("a", "b"))
  advance(5)
  p:left("a", 0.2)
  p:left("b", nil, true)
  expect.equal({ 50 }, counts(p, 50))
end)

tests["ewma: new endpoints are as fast as the others, and scores are kept"] = timed(function(advance)
  local before = ewma.new(endpoints("a", "b"))
  advance(10)
  before:left("a", 1)
  before:left("b", 3)
  local after = ewma.new(endpoints("b", "c", "d"), nil, before)
  expect.equal(before.scores.b, after.scores.b)
  local mean = (before.scores.a.value + before.scores.b.value) / 2
  expect.equal(mean, after.scores.c.value)
  expect.equal(nil, after.scores.a)
end)

tests["ewma: what was tried is not, unless it is all"] = function()
  local p = ewma.new(endpoints("a", "b", "c"))
  expect.equal({ [2] = 50 }, counts(p, 50, { true, false, true }))
  for at in pairs(counts(p, 50, { true, true, true })) do
    assert(at >= 1 and at <= 3)
  end
  expect.equal({ 5 }, counts(ewma.new(endpoints("a")), 5))
end

local TWICE = { max_fails = 2, fail_timeout = 10 }

tests["ejection: after so many failures in time"] = timed(function(advance)
  local e = ejection.new(endpoints("a", "b"), TWICE)
  e:failed("a")
  expect.equal(nil, e:add())
  advance(10)
  e:failed("a")
  expect.equal(nil, e:add(), "the first failure is too old")
  advance(9)
  e:failed("a")
  expect.equal({ true }, e:add())
  expect.equal({ true, true }, e:add({ [2] = true }))
  advance(9)
  expect.equal({ true }, e:add())
  advance(1)
  expect.equal(nil, e:add(), "it gets another chance")
  e:failed("a")
  expect.equal({ true }, e:add(), "after that one failure is enough")
end)

tests["ejection: a push keeps it"] = timed(function()
  local before = ejection.new(endpoints("a", "b"), TWICE)
  before:failed("a")
  before:failed("a")
  before:failed("b")
  local after = ejection.new(endpoints("c", "a"), TWICE, before)
  expect.equal({ [2] = true }, after:add())
  after:failed("b")
  after:failed("b")
  after:failed("gone")
  expect.equal({ [2] = true }, after:add())
end)

tests["slow start: a new endpoint gets more and more, others all"] = timed(function(advance)
  local s = slow_start.new(endpoints("a", "b"), { slow_start = 10 })
  expect.equal(nil, s:add())
  s = slow_start.new(endpoints("b", "c", "d"), { slow_start = 10 }, s)
  local function out(of)
    local count = 0
    for _ = 1, 1000 do
      local set = of:add() or {}
      assert(not set[1], "b is not new")
      count = count + (set[2] and 1 or 0)
    end
    return count
  end
  expect.equal(1000, out(s))
  advance(5)
  s = slow_start.new(endpoints("b", "c"), { slow_start = 10 }, s)
  local half = out(s)
  assert(half > 400 and half < 600, half .. " of 1000")
  advance(5)
  expect.equal(0, out(s))
end)

return tests
