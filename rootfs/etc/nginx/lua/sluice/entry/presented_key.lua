-- The private key for a backend.
local _, key = require("sluice.certificate").presented(ngx.arg[1])
return key
