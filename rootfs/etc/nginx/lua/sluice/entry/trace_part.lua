-- A part of the trace of a request, for snippets.
return package.loaded["sluice.trace"].part(ngx.arg)
