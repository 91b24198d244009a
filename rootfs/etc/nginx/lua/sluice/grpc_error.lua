--- Answers errors of nginx in a location of a gRPC backend.
--
-- A gRPC client gets the error as a grpc-status, with the HTTP status 200: clients do not
-- read the grpc-status of other answers. Other clients get nginx's page.
-- The codes are those that clients derive from an HTTP status, where that is defined:
-- https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md
local _M = {}

local INVALID, DEADLINE, DENIED, EXHAUSTED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, UNAUTHENTICATED = 3, 4, 7, 8, 12, 13, 14, 16

local CODES = {
  [400] = INTERNAL,
  [401] = UNAUTHENTICATED,
  [403] = DENIED,
  [404] = UNIMPLEMENTED,
  [405] = UNIMPLEMENTED,
  [408] = DEADLINE,
  [413] = EXHAUSTED,
  [414] = INVALID,
  [429] = UNAVAILABLE,
  [500] = INTERNAL,
  [502] = UNAVAILABLE,
  [503] = UNAVAILABLE,
  [504] = UNAVAILABLE,
  [508] = INTERNAL,
}

--- The code of gRPC for a status, nil if the request is not one of gRPC.
-- @tparam string|nil kind the Content-Type of the request
function _M.code(status, kind)
  local rest = kind and kind:lower():match("^application/grpc(.*)$")
  if rest and (rest == "" or rest:match("^[+; ]")) then
    return CODES[status] or INTERNAL
  end
end

--- For content_by_lua, in a location that error_page names.
function _M.run()
  local status = tonumber(ngx.var.status)
  local code = _M.code(status, ngx.var.content_type)
  if not code then
    return ngx.exit(status)
  end
  ngx.status = 200
  ngx.header["Content-Type"] = "application/grpc"
  ngx.header["Content-Length"] = 0
  ngx.header["WWW-Authenticate"] = nil
  ngx.header["grpc-status"] = code
  ngx.header["grpc-message"] = "the ingress controller answers " .. status
  ngx.send_headers()
  return ngx.exit(ngx.OK)
end

return _M
