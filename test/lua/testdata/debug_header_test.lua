local expect = require("testdata.expect")
local cjson = require("cjson.safe")
local debug_header = require("sluice.debug_header")

local tests = {}

local DECISION = '{"location":"/","ingress":"shop/web"}'

-- The answer for variables, decoded.
local function answer(var, status)
  var.uri = var.uri or "/cart"
  return cjson.decode(debug_header.complete(DECISION, var, status))
end

tests["an answer of nginx itself has no endpoint"] = function()
  expect.equal({ location = "/", ingress = "shop/web", status = 403, seconds = 0.25 }, answer({ request_time = "0.250" }, 403))
end

tests["an answer of a backend has its endpoint, its status and the rewritten URI"] = function()
  local got = answer({ upstream_addr = "10.0.0.1:80, 10.0.0.2:80", upstream_status = "502, 200", is_args = "?", args = "a=1", route = "shop/web/cart/80" }, 200)
  expect.equal("/cart?a=1", got.uri)
  expect.equal("shop/cart/80", got.backend)
  expect.equal("10.0.0.1:80, 10.0.0.2:80", got.endpoint)
  expect.equal("502, 200", got.upstreamStatus)
end

tests["a backend with options of its own is named by its key"] = function()
  expect.equal("shop/cart/80~ab", answer({ upstream_addr = "10.0.0.1:80", backend = "shop/cart/80~ab", route = "shop/web/cart/80" }, 200).backend)
end

tests["a socket of ours is no endpoint"] = function()
  local got = answer({ upstream_addr = "unix:/run/x.sock" }, 503)
  expect.equal(nil, got.endpoint)
  expect.equal("", got.backend)
end

tests["what a client chose stays within its value"] = function()
  local got = answer({ upstream_addr = "10.0.0.1:80", uri = '/"},\r\nX: y', args = "\0", is_args = "?" }, 200)
  expect.equal('/"},\r\nX: y?\0', got.uri)
  local text = debug_header.complete(DECISION, { upstream_addr = "10.0.0.1:80", uri = '/"}\r\nX: y' }, 200)
  expect.equal(nil, text:find("[\r\n]"))
end

tests["a long URI is cut"] = function()
  expect.equal(1000, #answer({ upstream_addr = "10.0.0.1:80", uri = "/" .. ("x"):rep(5000) }, 200).uri)
end

tests["a canary is named"] = function()
  expect.equal("shop-new-80", answer({ proxy_alternative_upstream_name = "shop-new-80" }, 200).canary)
  expect.equal(nil, answer({ proxy_alternative_upstream_name = "" }, 200).canary)
end

-- The SHA-256 of "0123456789abcdef".
local DIGEST = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"

tests["only the right token is right"] = function()
  expect.equal(true, debug_header.is_right("0123456789abcdef", DIGEST))
  for _, token in ipairs({ "", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef\0", DIGEST }) do
    expect.equal(false, debug_header.is_right(token, DIGEST), token)
  end
end

tests["without a digest, no token is right"] = function()
  expect.equal(false, debug_header.is_right("", ""))
  expect.equal(false, debug_header.is_right("x", DIGEST:sub(1, 62)))
end

return tests
