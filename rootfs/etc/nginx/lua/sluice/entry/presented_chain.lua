-- The certificate chain for a backend.
local chain = package.loaded["sluice.certificate"].presented(ngx.arg[1])
return chain
