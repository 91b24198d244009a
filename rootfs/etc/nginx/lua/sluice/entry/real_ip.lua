-- The address of the client, where the header that names it counts only if the PROXY header comes from a proxy in front.
-- Without a PROXY header there may be nothing to say.
local source = ngx.var.real_ip_source
ngx.req.set_header(ngx.var.real_ip_header, source ~= "" and source or nil)
