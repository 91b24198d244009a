--- Keeps TLS sessions of servers that verify their clients from being resumed.
--
-- nginx verifies a client in full handshakes only. A resumed session would pass with a
-- certificate that was revoked since, or, with an older nginx, one that another server
-- verified (CVE-2025-23419).
local base = require("resty.core.base")
local ffi = require("ffi")

ffi.cdef([[
void *ngx_http_lua_ffi_get_req_ssl_pointer(void *r);
void *SSL_get_session(const void *ssl);
int SSL_SESSION_set1_id_context(void *session, const unsigned char *context, unsigned int length);
]])

local _M = {}

-- OpenSSL resumes a session only in its context. No server has this one: nginx makes those
-- of servers by hashing.
local NOWHERE = "never resumed"

--- Ends the handshake if that fails. For ssl_certificate_by_lua.
function _M.forbid_resumption()
  local ssl = ffi.C.ngx_http_lua_ffi_get_req_ssl_pointer(base.get_request())
  local session = ssl ~= nil and ffi.C.SSL_get_session(ssl) or nil
  if session == nil or ffi.C.SSL_SESSION_set1_id_context(session, NOWHERE, #NOWHERE) ~= 1 then
    ngx.log(ngx.ERR, "sluice: a TLS session could be resumed, so its handshake ends")
    return ngx.exit(ngx.ERROR)
  end
end

return _M
