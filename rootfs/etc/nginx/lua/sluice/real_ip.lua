--- Sets the header from which nginx takes the client's address, where there are two
-- sources. The address in a header counts only if the PROXY header comes from a trusted
-- proxy. Without a PROXY header there may be none.
local _M = {}

--- For rewrite_by_lua. A location with its own file has to call it too.
function _M.run()
  local header = ngx.var.real_ip_header
  if not header then
    return
  end
  local source = ngx.var.real_ip_source
  ngx.req.set_header(header, source ~= "" and source or nil)
end

return _M
