local expect = require("testdata.expect")
local cookies = require("sluice.auth_cookies")

--- The headers of an answer after the module has seen them, without its Set-Cookie.
local function told(of, sent)
  local headers = sent or {}
  headers["Set-Cookie"] = of
  cookies.tell(headers)
  headers["Set-Cookie"] = nil
  return headers
end

return {
  ["no cookie is no header"] = function()
    expect.equal({}, told(nil))
    expect.equal({}, told({}))
  end,
  ["one cookie stays as it is"] = function()
    expect.equal({ ["Sluice-Cookie"] = "a=1, b; Path=/" }, told("a=1, b; Path=/"))
  end,
  ["each of several has its header"] = function()
    expect.equal({ ["Sluice-Cookie"] = "a=1", ["Sluice-Cookie-2"] = "b=2\tc", ["Sluice-Cookie-3"] = "d=3" }, told({ "a=1", "b=2\tc", "d=3" }))
  end,
  ["there are 8 at most"] = function()
    local many = {}
    for i = 1, 9 do
      many[i] = "c" .. i
    end
    local headers = told(many)
    expect.equal("c8", headers["Sluice-Cookie-8"])
    expect.equal(nil, headers["Sluice-Cookie-9"])
  end,
  ["a header of that name from the server counts for nothing"] = function()
    expect.equal({ ["Sluice-Cookie"] = "a=1" }, told("a=1", { ["Sluice-Cookie"] = "x", ["Sluice-Cookie-8"] = "y" }))
  end,
}
