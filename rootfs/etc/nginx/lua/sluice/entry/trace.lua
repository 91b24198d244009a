-- Continues or begins the trace of a request.
return package.loaded["sluice.trace"].begin(ngx.arg)
