local expect = require("testdata.expect")
local runtime = require("sluice.runtime")

local tests = {}

tests["boot is named once, loads are counted"] = function(dicts)
  local dict = dicts.sluice_runtime
  runtime.boot(dicts)
  local boot = dict:get("boot")
  expect.equal(32, #boot, "length of the boot id")
  runtime.boot(dicts)
  expect.equal(boot, dict:get("boot"), "boot")
  expect.equal(2, dict:get("load"), "load")
  dicts.sluice_certificates:flush_all()
  runtime.boot(dicts)
  assert(boot ~= dict:get("boot"), "want another boot where a dictionary was emptied")
end

tests["a value without room leaves the former one"] = function(dicts)
  local dict = dicts.sluice_backends
  assert(runtime.store(dict, "key", "former"))
  for _, size in ipairs({ 70000, 1000000 }) do
    local ok, err = runtime.store(dict, "key", string.rep("x", size))
    expect.equal(nil, ok, "stored")
    expect.equal("no memory", err, "error")
    expect.equal("former", dict:get("key"), "value")
  end
end

tests["a full dictionary never pushes a value out"] = function(dicts)
  local dict = dicts.sluice_backends
  local stored = 0
  for number = 1, 5000 do
    if runtime.store(dict, "key" .. number, string.rep("x", number % 300)) then
      stored = stored + 1
    end
  end
  assert(stored > 0 and stored < 5000, "want some of the values stored, got " .. stored)
  expect.equal(stored, #dict:get_keys(0), "values that are held")
end

tests["a full dictionary takes a shorter value or keeps the former"] = function(dicts)
  local dict = dicts.sluice_backends
  local sizes = {}
  for number = 1, 5000 do
    local size = 1 + number * 7 % 500
    if runtime.store(dict, "key" .. number, string.rep("a", size)) then
      sizes["key" .. number] = size
    end
  end
  for key, size in pairs(sizes) do
    local shorter = string.rep("b", math.ceil(size / 2))
    local ok = runtime.store(dict, key, shorter)
    expect.equal(ok and shorter or string.rep("a", size), dict:get(key), key)
  end
end

-- assemble.EntryCost relies on it.
tests["an entry takes 68 bytes besides its key and its value"] = function(dicts)
  local dict = dicts.sluice_backends
  local function fits(size)
    dict:flush_all()
    dict:flush_expired()
    local number = 0
    while dict:safe_set(string.format("k%03d", number), string.rep("x", size)) do
      number = number + 1
    end
    return number
  end
  local whole = fits(4096 - 68 - 4)
  assert(whole > 8, "want some pages, got " .. whole)
  expect.equal(2 * whole, fits(2048 - 68 - 4), "entries of half a page")
  expect.equal(whole, fits(2049 - 68 - 4), "entries of a little more")
  expect.equal(math.floor(whole / 2), fits(4097 - 68 - 4), "entries of a little more than a page")
end

tests["the version grows"] = function(dicts)
  expect.equal(1, runtime.bump(dicts.sluice_runtime))
  expect.equal(2, runtime.bump(dicts.sluice_runtime))
  expect.equal(2, runtime.version(dicts.sluice_runtime)[0], "the number that requests read")
end

tests["a load keeps the page of the version"] = function(dicts)
  local page = runtime.version(dicts.sluice_runtime)
  runtime.bump(dicts.sluice_runtime)
  runtime.boot(dicts)
  expect.equal(page, runtime.version(dicts.sluice_runtime))
  expect.equal(1, page[0])
end

tests["a new page begins with the version"] = function(dicts)
  runtime.bump(dicts.sluice_runtime)
  dicts.sluice_runtime:delete("page")
  runtime.boot(dicts)
  expect.equal(1, runtime.version(dicts.sluice_runtime)[0])
end

return tests
