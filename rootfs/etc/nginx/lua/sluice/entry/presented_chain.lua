-- The certificate chain for a backend.
local chain = require("sluice.certificate").presented(ngx.arg[1])
return chain
