-- Returns 1 if the backend that the argument names has no endpoints.
return require("sluice.balancer").lacks_endpoints(ngx.arg[1]) and "1" or ""
