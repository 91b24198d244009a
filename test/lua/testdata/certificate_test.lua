local certificate = require("sluice.certificate")
local expect = require("testdata.expect")

local tests = {}

local function new(dicts, names)
  for host, id in pairs(names) do
    assert(dicts.sluice_certificates:safe_set("n:" .. host, id))
  end
  return certificate.new(dicts.sluice_certificates)
end

tests["its own name, then the wildcard of its first label, then the default"] = function(dicts)
  local chooser = new(dicts, { ["shop.example"] = "own", ["*.shop.example"] = "wildcard", [""] = "default" })
  for name, want in pairs({
    ["shop.example"] = "own", ["SHOP.EXAMPLE."] = "own", ["a.shop.example"] = "wildcard", ["A.Shop.Example"] = "wildcard",
    ["a.b.shop.example"] = "default", [""] = "default", ["."] = "default", ["example"] = "default", ["%a.%1"] = "default",
  }) do
    expect.equal(want, chooser:find(name), name)
  end
  expect.equal("default", chooser:find(nil), "no name")
end

tests["a name of any length and bytes is looked up"] = function(dicts)
  local chooser = new(dicts, { [""] = "default" })
  expect.equal("default", chooser:find(string.rep("a.", 40000)), "long name")
  expect.equal("default", chooser:find("\0\255\n%"), "bytes")
end

tests["without a default there is none"] = function(dicts)
  expect.equal(nil, new(dicts, { ["shop.example"] = "own" }):find("other.example"))
end

tests["a certificate that is not held, or broken, is an error"] = function(dicts)
  local chooser = new(dicts, {})
  for id, want in pairs({ missing = "it is not held", half = "not a chain and a key" }) do
    if id == "half" then
      assert(dicts.sluice_certificates:safe_set("c:half", "-----BEGIN CERTIFICATE-----"))
    end
    local pair, err = chooser:get(id)
    expect.equal(nil, pair, id)
    expect.equal(want, err, id)
  end
end

return tests
