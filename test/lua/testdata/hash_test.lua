local expect = require("testdata.expect")
local hash = require("sluice.picker.hash")
local ring = require("sluice.ring")

local tests = {}

local function endpoints(names)
  return { keys = names, count = #names }
end

local function pods(count, without)
  local names = {}
  for at = 1, count do
    if at ~= without then
      names[#names + 1] = "10.244.1." .. at .. ":8080"
    end
  end
  return names
end

local function picker(names, subset)
  return hash.new(endpoints(names), { by = { "", "request_uri" }, subset = subset, points = 20000 })
end

tests["the key is text and variables"] = function()
  local p = hash.new(endpoints(pods(1)), { by = { "a-", "host", "", "arg_x", "_z" }, points = 100 })
  expect.equal("a-shop.example7_z", p:key({ host = "shop.example", arg_x = "7" }))
  expect.equal("a-_z", p:key({}))
  expect.equal("all", hash.new(endpoints(pods(1)), { by = { "all" }, points = 100 }):key({}))
end

-- Recorded from ingress-nginx 1.15.1, with four pods at these addresses.
tests["keys go to the endpoints that ingress-nginx chose"] = function()
  local p = picker(pods(4))
  for key, at in pairs({
    ["/one"] = 2, ["/two"] = 4, ["/three"] = 1, ["/four"] = 1, ["/five"] = 3, ["10.255.0.3"] = 3, ["10.255.0.4"] = 1,
    ["hash-by-combined.example.org/a"] = 1, ["hash-by-combined.example.org/b"] = 3,
  }) do
    expect.equal(at, p:choose(key), key)
  end
end

-- The place of the first point from a hash on, found by looking at all of them.
local function found_by_looking(r, hash)
  for at = 0, r.count - 1 do
    if r.points[at] >= hash then
      return r.owners[at]
    end
  end
  return r.owners[0]
end

tests["the search finds the next point on a ring of any size"] = function()
  for _, names in ipairs({ 1, 2, 7, 300 }) do
    for _, most in ipairs({ 1, 3 * names, 20000 }) do
      local r = ring.new(pods(names), most)
      for key = 1, 300 do
        expect.equal(found_by_looking(r, ngx.crc32_long("k" .. key)), r:find("k" .. key), names .. " names, key " .. key)
      end
    end
  end
end

tests["only the keys of an endpoint that goes go elsewhere"] = function()
  local before, after = pods(10), pods(10, 4)
  local p, q, moved = picker(before), picker(after), 0
  for key = 1, 10000 do
    local was, is = before[p:choose("k" .. key)], after[q:choose("k" .. key)]
    if was ~= is then
      assert(was == "10.244.1.4:8080", "a key of " .. was .. " moved")
      moved = moved + 1
    end
  end
  io.stderr:write(("hash: %.1f %% of keys moved when one of ten endpoints went\n"):format(moved / 100))
  assert(moved > 500 and moved < 1500, moved .. " of 10000 moved")
end

tests["the next endpoint gets the keys of one that is out"] = function()
  local p = picker(pods(4))
  for key = 1, 100 do
    local at = p:choose("k" .. key)
    local other = p:choose("k" .. key, { [at] = true })
    assert(other ~= at, "chosen though it is out")
    expect.equal(other, p:choose("k" .. key, { [at] = true }))
    expect.equal(at, p:choose("k" .. key, { true, true, true, true }), "all are out")
  end
end

-- The places that a key leads to.
local function places(p, key, out)
  local seen, count = {}, 0
  for _ = 1, 200 do
    local at = p:choose(key, out)
    if not seen[at] then
      seen[at], count = true, count + 1
    end
  end
  return seen, count
end

tests["a subset of the endpoints has the requests with a key"] = function()
  local p, all = picker(pods(10), 3), {}
  for key = 1, 50 do
    local seen, count = places(p, "k" .. key)
    expect.equal(3, count)
    for at in pairs(seen) do
      all[at] = true
    end
    local at = next(seen)
    local others = places(p, "k" .. key, { [at] = true })
    assert(not others[at], "chosen though it is out")
  end
  expect.equal(10, #all)
  local _, count = places(picker(pods(2), 3), "k")
  expect.equal(2, count)
end

tests["an endpoint that goes changes one place of its subsets, and no other subset"] = function()
  local before, after = pods(10), pods(10, 4)
  local p, q = picker(before, 3), picker(after, 3)
  for key = 1, 50 do
    local was, is, gone = places(p, "k" .. key), {}, 0
    for at in pairs((places(q, "k" .. key))) do
      is[after[at]] = true
    end
    for at in pairs(was) do
      if not is[before[at]] then
        expect.equal("10.244.1.4:8080", before[at])
        gone = gone + 1
      end
    end
    assert(gone <= 1)
  end
end

return tests
