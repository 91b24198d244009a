-- The private key for a backend.
local _, key = package.loaded["sluice.certificate"].presented(ngx.arg[1])
return key
