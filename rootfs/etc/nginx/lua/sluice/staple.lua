--- Staples an OCSP response to the certificate of a handshake.
local base = require("resty.core.base")
local ffi = require("ffi")
local ocsp = require("ngx.ocsp")

ffi.cdef([[
void *ngx_http_lua_ffi_get_req_ssl_pointer(void *r);
long SSL_ctrl(void *ssl, int command, long number, void *pointer);
]])

local _M = {}

-- The commands of SSL_set_tlsext_status_type and SSL_get_tlsext_status_type.
-- Source: https://github.com/openssl/openssl/blob/master/include/openssl/ssl.h.in
local SET_TYPE, GET_TYPE = 65, 127
local OCSP, NOTHING = 1, -1

--- Sets the response, which OpenSSL sends if the client asks for it. A failure is logged, and
-- the handshake goes on without it.
--
-- In ssl_client_hello_by_lua OpenSSL has not yet read whether the client asks, and ngx.ocsp
-- does nothing for one that does not. So the connection counts as one that asks meanwhile.
-- @tparam string|nil response in DER
function _M.set(response)
  if not response then
    return
  end
  local connection = ffi.C.ngx_http_lua_ffi_get_req_ssl_pointer(base.get_request())
  local early = ffi.C.SSL_ctrl(connection, GET_TYPE, 0, nil) == NOTHING
  if early then
    ffi.C.SSL_ctrl(connection, SET_TYPE, OCSP, nil)
  end
  local ok, err = ocsp.set_ocsp_status_resp(response)
  if early then
    ffi.C.SSL_ctrl(connection, SET_TYPE, NOTHING, nil)
  end
  if not ok then
    ngx.log(ngx.ERR, "sluice: an OCSP response is not stapled: ", err)
  end
end

return _M
