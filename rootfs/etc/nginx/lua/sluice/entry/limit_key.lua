-- Hashes the variable that its argument names, so that the key of a limit has a fixed length:
-- nginx does not count requests with a key that is too long. Empty if there is no value.
local value = ngx.var[ngx.arg[1]]
return value and value ~= "" and ngx.sha1_bin(value) or ""
