-- The address of the client, where the header that names it counts only if the PROXY header comes from a proxy in front.
ngx.req.set_header(ngx.var.real_ip_header, ngx.var.real_ip_source)
