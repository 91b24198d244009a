--- Passes a request to the internal location that takes it by its method, headers and parameters.
--
-- An error page of nginx would do the same, but not for a request that came by an error page: it
-- follows one only. This keeps the status of the error for the client, too.
local _M = {}

--- Goes on in the location that $dispatch names. For rewrite_by_lua.
function _M.run()
  return ngx.exec(ngx.var.dispatch)
end

return _M
