--- The cases of internal/dynamic/testdata/wire.json, which Go's tests read too.
local cjson = require("cjson.safe")
local control = require("sluice.control")
local expect = require("testdata.expect")

local function read_cases()
  local file = assert(io.open(ngx.config.prefix() .. "dynamic/wire.json"))
  local text = file:read("*a")
  file:close()
  return assert(cjson.decode(text))
end

local function fill(dicts, held)
  for key, value in pairs(held.backends or {}) do
    assert(dicts.sluice_backends:safe_set(key, value))
  end
  for key, value in pairs(held.certificates or {}) do
    assert(dicts.sluice_certificates:safe_set(key, value))
  end
end

local function all(dict)
  local found = {}
  for _, key in ipairs(dict:get_keys(0)) do
    found[key] = dict:get(key)
  end
  return found
end

local tests = {}

for _, case in ipairs(read_cases()) do
  tests[case.name] = function(dicts)
    dicts.sluice_runtime:set("boot", "b")
    fill(dicts, case.before or {})
    local status, answer = control.push(dicts, case.raw or cjson.encode(case.push):gsub("{}", "[]"))
    expect.equal(case.status, status, "status")
    expect.equal(case.error, answer.error, "error")
    local held, backends = case.held or {}, all(dicts.sluice_backends)
    for key, value in pairs(case.kept or {}) do -- objects, with their fields in any order
      expect.equal(value, cjson.decode(backends[key]), key)
      backends[key] = nil
    end
    expect.equal(held.backends or {}, backends, "backends")
    expect.equal(held.certificates or {}, all(dicts.sluice_certificates), "certificates")
  end
end

return tests
