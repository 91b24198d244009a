-- ingress-nginx has this variable from a module that nginx lacks.
return ngx.escape_uri(ngx.var.request_uri)
