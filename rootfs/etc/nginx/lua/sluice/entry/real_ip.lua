-- Sets the header from which nginx takes the client's address. The address in a header counts only if the PROXY header
-- comes from a trusted proxy. Without a PROXY header there may be none.
local source = ngx.var.real_ip_source
ngx.req.set_header(ngx.var.real_ip_header, source ~= "" and source or nil)
