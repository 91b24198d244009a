local expect = require("testdata.expect")
local cookies = require("sluice.auth_cookies")

return {
  ["no cookie is nothing"] = function()
    expect.equal(nil, cookies.join(nil))
    expect.equal(nil, cookies.join({}))
  end,
  ["one cookie stays as it is"] = function()
    expect.equal("a=1, b; Path=/", cookies.join("a=1, b; Path=/"))
  end,
  ["tabs join several, and none is in a cookie"] = function()
    expect.equal("a=1\tb=2 c\td=3", cookies.join({ "a=1", "b=2\tc", "d=3" }))
  end,
}
