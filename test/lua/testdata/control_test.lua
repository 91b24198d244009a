local cjson = require("cjson.safe")
local control = require("sluice.control")
local expect = require("testdata.expect")

local tests = {}

local function push(dicts, set)
  dicts.sluice_runtime:set("boot", "b")
  return control.push(dicts, (cjson.encode({ boot = "b", set = set }):gsub("{}", "[]")))
end

tests["each push has another version, a refused one has none"] = function(dicts)
  local set = { names = {} }
  local _, first = push(dicts, set)
  local _, second = push(dicts, set)
  expect.equal({ boot = "b", version = 1, memory = first.memory }, first)
  expect.equal({ boot = "b", version = 2, memory = second.memory }, second)
  expect.equal(400, (control.push(dicts, "[]")))
  expect.equal(2, dicts.sluice_runtime:get("version"), "version")
end

tests["what has no room is named, and the rest is stored and seen"] = function(dicts)
  local pem = "-----BEGIN CERTIFICATE-----"
  local status, answer = push(dicts, {
    certificates = { { id = "aa", chain = pem .. string.rep("x", 100000), key = pem }, { id = "bb", chain = pem, key = pem } },
    names = { { host = "a.example", id = "aa" }, { host = "b.example", id = "bb" } },
  })
  expect.equal(507, status, "status")
  expect.equal({ certificates = { "aa" }, names = { "a.example" } }, answer.failed, "failed")
  expect.equal("1 certificates not stored: no memory", answer.error, "error")
  expect.equal("bb", dicts.sluice_certificates:get("n:b.example"), "the rest")
  expect.equal(1, dicts.sluice_runtime:get("version"), "version")
end

tests["each push is answered with how full the dictionaries are"] = function(dicts)
  local _, empty = push(dicts, {})
  expect.equal(65536, empty.memory.certificates.size, "size")
  local pem = "-----BEGIN CERTIFICATE-----"
  local chain = pem .. string.rep("x", 4096 * 3 - 200)
  local _, filled = push(dicts, { certificates = { { id = "aa", chain = chain, key = pem } } })
  expect.equal(4096 * 3, empty.memory.certificates.free - filled.memory.certificates.free, "certificates")
  expect.equal(empty.memory.backends, filled.memory.backends, "backends")
  local _, full = push(dicts, { certificates = { { id = "bb", chain = pem .. string.rep("x", 100000), key = pem } } })
  expect.equal(filled.memory, full.memory, "where something has no room")
end

tests["what is held is listed"] = function(dicts)
  assert(dicts.sluice_backends:safe_set("shop/front/80", "[503]"))
  assert(dicts.sluice_certificates:safe_set("c:aa", "x"))
  assert(dicts.sluice_certificates:safe_set("n:", "aa"))
  expect.equal({ backends = { "shop/front/80" }, certificates = { "aa" }, names = { "" } }, control.held(dicts))
end

return tests
