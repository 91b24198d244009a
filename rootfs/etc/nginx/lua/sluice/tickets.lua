--- Encrypts session tickets with the key of the settings, which is in memory only.
--
-- nginx would read it from a file at a reload. All servers share the tickets of the default
-- one: OpenSSL uses its TLS context, whatever the server name.
local base = require("resty.core.base")
local ffi = require("ffi")

ffi.cdef([[
void *ngx_http_lua_ffi_get_req_ssl_pointer(void *r);
void *SSL_get_SSL_CTX(const void *ssl);
long SSL_CTX_ctrl(void *ctx, int command, long number, void *pointer);
long SSL_CTX_callback_ctrl(void *ctx, int command, void (*callback)(void));
int SSL_CTX_set_session_id_context(void *ctx, const unsigned char *context, unsigned int length);
int SSL_set_session_id_context(void *ssl, const unsigned char *context, unsigned int length);
]])

local _M = {}

-- The commands of SSL_CTX_set_tlsext_ticket_keys and SSL_CTX_set_tlsext_ticket_key_cb.
-- Source: https://github.com/openssl/openssl/blob/master/include/openssl/tls1.h
local SET_KEYS, SET_CALLBACK = 59, 72

-- nginx hashes the placeholder certificate to a context of sessions, and each Sluice has another
-- placeholder. OpenSSL resumes a session only in its context.
local SHARED = "sluice tickets"

-- The key in this worker's TLS context. A reload makes another context in other workers.
local applied

local function apply(key)
  local connection = ffi.C.ngx_http_lua_ffi_get_req_ssl_pointer(base.get_request())
  local context = ffi.C.SSL_get_SSL_CTX(connection)
  -- Newer versions of nginx set a function that takes keys of their own.
  ffi.C.SSL_CTX_callback_ctrl(context, SET_CALLBACK, nil)
  local bytes = ffi.new("unsigned char[?]", #key, key)
  return ffi.C.SSL_CTX_ctrl(context, SET_KEYS, #key, bytes) == 1
    -- Later connections take it of the TLS context. Hosts with a TLS context of their own keep theirs.
    and ffi.C.SSL_CTX_set_session_id_context(context, SHARED, #SHARED) == 1
    and ffi.C.SSL_set_session_id_context(connection, SHARED, #SHARED) == 1
end

--- Takes the key that was pushed last. For ssl_client_hello_by_lua, in which the connection
-- still has the TLS context of the default server.
function _M.refresh()
  local key = ngx.shared.sluice_certificates:get("t:current")
  if not key or key == applied then
    return
  end
  if not apply(key) then
    ngx.log(ngx.ERR, "sluice: OpenSSL does not take the key of session tickets")
  end
  applied = key
end

return _M
