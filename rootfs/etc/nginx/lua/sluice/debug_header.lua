--- Tells who asks by the header X-Sluice-Debug what was decided about the request.
--
-- nginx.conf has the clients that may ask ($debug_client), and the SHA-256 of the token that
-- they send ($debug_token). A location sets $decision to a JSON object with what is known
-- before a request; the rest is added here. Everybody else gets the answer without it.
local cjson = require("cjson.safe")
local ffi = require("ffi")

ffi.cdef([[
unsigned char *SHA256(const unsigned char *text, size_t length, unsigned char *digest);
int CRYPTO_memcmp(const void *a, const void *b, size_t length);
]])

local _M = {}

local HEADER = "X-Sluice-Debug"

-- The most bytes of a URI in the answer, and the bytes of a digest.
local MOST_URI, DIGEST = 1000, 32

--- @tparam string token
-- @tparam string expected the SHA-256 of the right one in hexadecimal
-- @treturn boolean whether it is the right one; it takes the same time for each wrong one
function _M.is_right(token, expected)
  local digest, right = ffi.new("unsigned char[?]", DIGEST), ffi.new("unsigned char[?]", DIGEST)
  if #expected ~= 2 * DIGEST or ffi.C.SHA256(token, #token, digest) == nil then
    return false
  end
  for i = 0, DIGEST - 1 do
    right[i] = tonumber(expected:sub(2 * i + 1, 2 * i + 2), 16)
  end
  return ffi.C.CRYPTO_memcmp(digest, right, DIGEST) == 0
end

-- The key of the backend, "namespace/service/port", and more behind it.
local function backend(var)
  if var.backend and var.backend ~= "" then
    return var.backend
  end
  local namespace, service = (var.route or ""):match("^([^/]*)/[^/]*/(.*)$")
  return namespace and (namespace .. "/" .. service) or ""
end

--- @tparam string decision what is known before a request, a JSON object
-- @tparam table var the variables of the request
-- @tparam number status that of the answer
-- @treturn string all of it
function _M.complete(decision, var, status)
  local parts = { decision:sub(1, -2) }
  local function add(name, value)
    parts[#parts + 1] = '"' .. name .. '":' .. cjson.encode(value)
  end
  local endpoint = var.upstream_addr
  if endpoint then
    add("uri", (var.uri .. (var.is_args or "") .. (var.args or "")):sub(1, MOST_URI))
    add("backend", backend(var))
    -- Without endpoints, a socket of ours answers.
    if not endpoint:find("unix:", 1, true) then
      add("endpoint", endpoint)
      add("upstreamStatus", var.upstream_status or "")
    end
  end
  local canary = var.proxy_alternative_upstream_name
  if canary and canary ~= "" then
    add("canary", canary)
  end
  add("status", status)
  add("seconds", tonumber(var.request_time) or 0)
  return table.concat(parts, ",") .. "}"
end

--- For header_filter_by_lua.
function _M.run()
  local var = ngx.var
  ngx.header[HEADER] = nil -- that of a backend would be read as ours
  if not var.http_x_sluice_debug or ngx.is_subrequest or var.debug_client ~= "1" then
    return
  end
  local token, decision = ngx.req.get_headers(0)[HEADER], var.decision
  -- A header that came twice is a table.
  if type(token) ~= "string" or not decision or decision == "" or not _M.is_right(token, var.debug_token) then
    return
  end
  ngx.header[HEADER] = _M.complete(decision, var, ngx.status)
end

return _M
