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

--- Takes the headers from the request whose names differ from those of the arguments only by "_" for "-". nginx's variables
-- $http_... do not distinguish them, so that a client could send one that a proxy passes on as it is. For set_by_lua.
function _M.clear_other_forms()
  local believed, number = {}, 1
  while ngx.arg[number] do
    believed[ngx.arg[number]:lower()], number = true, number + 1
  end
  for name in pairs(ngx.req.get_headers(0, true)) do
    if name:find("_", 1, true) and believed[name:gsub("_", "-"):lower()] then
      ngx.req.clear_header(name)
    end
  end
end

return _M
