local grpc_error = require("sluice.grpc_error")
local expect = require("testdata.expect")

local tests = {}

local UNAVAILABLE, DEADLINE, UNAUTHENTICATED = 14, 4, 16

tests["a request of another kind has no code"] = function()
  expect.equal(nil, grpc_error.code({ status = 502, kind = "application/json", elapsed = 9, timeout = "1m" }))
  expect.equal(nil, grpc_error.code({ status = 502, elapsed = 9 }))
end

tests["a timeout of gRPC in seconds"] = function()
  for text, want in pairs({
    ["2H"] = 7200, ["3M"] = 180, ["4S"] = 4, ["5m"] = 0.005, ["1000000u"] = 1, ["99999999n"] = 0.099999999, ["0m"] = 0,
  }) do
    expect.equal(want, grpc_error.seconds(text), text)
  end
  for _, text in ipairs({ "", "5", "m", "123456789m", "-1m", "1.5S", "5 m", "5x", "0x1m", "5m\n" }) do
    expect.equal(nil, grpc_error.seconds(text), text)
  end
  expect.equal(nil, grpc_error.seconds(nil))
end

tests["a backend that ends a call at the client's deadline: the deadline is over"] = function()
  for _, status in ipairs({ 502, 503, 504 }) do
    expect.equal(DEADLINE, grpc_error.code({ status = status, kind = "application/grpc", elapsed = 0.05, timeout = "50m" }), status)
    expect.equal(UNAVAILABLE, grpc_error.code({ status = status, kind = "application/grpc", elapsed = 0.04, timeout = "50m" }), status)
    expect.equal(UNAVAILABLE, grpc_error.code({ status = status, kind = "application/grpc", elapsed = 60 }), status)
    expect.equal(UNAVAILABLE, grpc_error.code({ status = status, kind = "application/grpc", elapsed = 60, timeout = "soon" }), status)
  end
end

tests["a deadline hides no refusal"] = function()
  expect.equal(UNAUTHENTICATED, grpc_error.code({ status = 401, kind = "application/grpc", elapsed = 60, timeout = "1m" }))
end

return tests
