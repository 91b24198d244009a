--- Gives each TLS handshake the certificate of its server name.
--
-- The dictionary sluice_certificates holds the id of a host's certificate at
-- "n:<host>", and the certificate at "c:<id>" (see wire.lua). An id is a hash of the
-- content, so a worker can keep parsed certificates for ever. An OCSP response of a
-- certificate is at "o:<id>".
local hello = require("ngx.ssl.clienthello")
local lrucache = require("resty.lrucache")
local ssl = require("ngx.ssl")
local staple = require("sluice.staple")
local wire = require("sluice.wire")

local _M = {}
local mt = { __index = _M }

local PARSED = 4096

--- @tparam table dict sluice_certificates
function _M.new(dict)
  return setmetatable({ dict = dict, parsed = lrucache.new(PARSED) }, mt)
end

--- The id of the certificate for a server name: its own, that of the wildcard
-- for its first label, or the default.
-- @tparam string|nil name as the client sent it
-- @treturn string|nil
function _M:find(name)
  name = (name or ""):lower():gsub("%.$", "")
  return self.dict:get("n:" .. name)
    or self.dict:get("n:" .. name:gsub("^[^.]+", "*", 1))
    or self.dict:get("n:")
end

local function parse(value)
  local chain, key = wire.pair(value)
  if not chain then
    return nil, "not a chain and a key"
  end
  local cert, err = ssl.parse_pem_cert(chain)
  if not cert then
    return nil, err
  end
  local private, why = ssl.parse_pem_priv_key(key)
  if not private then
    return nil, why
  end
  return { cert = cert, key = private }
end

--- @treturn table|nil {cert, key}, parsed
-- @treturn string|nil why there is none
function _M:get(id)
  local pair, err = self.parsed:get(id), nil
  if pair then
    return pair
  end
  local value = self.dict:get("c:" .. id)
  if not value then
    return nil, "it is not held"
  end
  pair, err = parse(value)
  if pair then
    self.parsed:set(id, pair)
  end
  return pair, err
end

local function present(pair)
  local ok, err = ssl.clear_certs()
  if ok then
    ok, err = ssl.set_cert(pair.cert)
  end
  if ok then
    ok, err = ssl.set_priv_key(pair.key)
  end
  return ok, err
end

local function choose(self, name)
  local id = self:find(name)
  if not id then
    return nil, "there is none"
  end
  local pair, err = self:get(id)
  if not pair then
    return nil, id .. ": " .. err
  end
  staple.set(self.dict:get("o:" .. id))
  return present(pair)
end

-- A client can send any bytes. Only host names are logged.
local function printable(name)
  if not name or #name > 255 or name:find("[^%w.*_-]") then
    return "(no host name)"
  end
  return name
end

-- This worker's certificates, made at its first handshake.
local worker

local function set(name)
  worker = worker or _M.new(ngx.shared.sluice_certificates)
  local ok, err = choose(worker, name)
  if not ok then
    ngx.log(ngx.ERR, "sluice: no certificate for ", printable(name), ": ", err)
    return ngx.exit(ngx.ERROR)
  end
end

--- Sets certificate and key, or ends the handshake, so that clients never see the
-- certificate of nginx.conf. For ssl_client_hello_by_lua.
function _M.run()
  return set(hello.get_client_hello_server_name())
end

--- The same for a server with its own TLS context, which replaces what run() set. For
-- ssl_certificate_by_lua.
function _M.run_own()
  return set(ssl.server_name())
end

--- The chain and the key with an id in PEM, for a backend. Without them nginx fails to
-- connect to it. For set_by_lua.
-- @treturn string
-- @treturn string
function _M.presented(id)
  local value = ngx.shared.sluice_certificates:get("c:" .. id)
  local chain, key = wire.pair(value or "")
  return chain or "", key or ""
end

return _M
