--- Answers in place of errors, in a location that error_page names without "=". nginx then
-- keeps the status of the error for the client.
local balancer = require("sluice.balancer")

local _M = {}

--- Returns the error if its backend has no endpoint. For rewrite_by_lua.
-- @tparam boolean keeps whether the client gets the status of the error, not that of the
-- backend
function _M.run(keeps)
  if balancer.is_empty(ngx.var.backend) then
    return ngx.exit(tonumber(ngx.var.custom_error_status))
  end
  if not keeps then
    ngx.status = 200 -- nginx forgets the status of the error, and takes that of the backend
  end
end

--- Returns the page of nginx for the error. For content_by_lua.
function _M.own()
  return ngx.exit(ngx.status)
end

return _M
