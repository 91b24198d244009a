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

-- OVER are the statuses that a backend causes that gives up a call at the deadline.
local OVER = { [502] = true, [503] = true, [504] = true }

-- SECONDS are the units of grpc-timeout:
-- https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
local SECONDS = { H = 3600, M = 60, S = 1, m = 1e-3, u = 1e-6, n = 1e-9 }

--- The seconds of a grpc-timeout, nil if it is none.
-- @tparam string|nil text the header of the client
function _M.seconds(text)
  local digits, unit = (text or ""):match("^(%d+)([HMSmun])$")
  if digits and #digits <= 8 then
    return tonumber(digits) * SECONDS[unit]
  end
end

--- The code of gRPC for an error, nil if the request is not one of gRPC.
-- A backend that resets a call at the client's deadline looks like one that is down; the
-- time that has passed tells them apart. nginx's clock counts milliseconds.
-- @tparam table e status; kind, the Content-Type of the request; timeout, its
-- grpc-timeout; elapsed, the seconds since it came
function _M.code(e)
  local rest = e.kind and e.kind:lower():match("^application/grpc(.*)$")
  if not rest or not (rest == "" or rest:match("^[+; ]")) then
    return nil
  end
  local timeout = OVER[e.status] and _M.seconds(e.timeout)
  if timeout and e.elapsed + 0.0011 >= timeout then
    return DEADLINE
  end
  return CODES[e.status] or INTERNAL
end

--- For content_by_lua, in a location that error_page names.
function _M.run()
  local status = tonumber(ngx.var.status)
  local var = ngx.var
  local elapsed = ngx.now() - ngx.req.start_time()
  local code = _M.code({ status = status, kind = var.content_type, timeout = var.http_grpc_timeout, elapsed = elapsed })
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
