-- Continues or begins the trace of a request.
return require("sluice.trace").begin(ngx.arg)
