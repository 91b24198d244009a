-- Returns 1 if there is no endpoint for the request, whose backend the argument names.
return require("sluice.balancer").is_empty(ngx.arg[1]) and "1" or ""
