--- Passes a request to the internal location that takes it by its method, headers and parameters.
--
-- An error page of nginx would do the same, but not for a request that came by an error page: it
-- follows one only. This keeps the status of the error for the client, too.
local _M = {}

--- Goes on in the location that $dispatch names. For rewrite_by_lua.
function _M.pass()
  return ngx.exec(ngx.var.dispatch)
end

--- Does so for a location without a limit of bodies. The next one limits them, except of a request
-- that came by an error page, whose first location did. For rewrite_by_lua.
function _M.run()
  if not ngx.req.is_internal() then
    ngx.var.unlimited_length = ngx.var.content_length
  end
  return _M.pass()
end

--- Returns "1" if the body is longer than the limit, and "" otherwise. nginx itself limits a body
-- whose length nobody has announced. The argument of set_by_lua is the limit in bytes.
function _M.too_long()
  local length = tonumber(ngx.var.unlimited_length)
  return length and length > tonumber(ngx.arg[1]) and "1" or ""
end

return _M
