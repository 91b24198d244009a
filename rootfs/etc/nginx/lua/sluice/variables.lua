--- Values of variables that nginx cannot make itself. For set_by_lua, whose arguments these
-- functions read.
local _M = {}

--- A hash of the variable that the argument names, so that the key of a limit has a fixed length:
-- nginx does not count requests with a key that is too long. Empty if there is no value.
function _M.limit_key()
  local value = ngx.var[ngx.arg[1]]
  return value and value ~= "" and ngx.sha1_bin(value) or ""
end

--- A hash of the arguments, of which the first is their number. Each counts with its length, so that
-- no two lists give the same text; nginx gives nil for an empty variable. The hash keeps passwords
-- off the disk.
function _M.auth_cache_key()
  local parts = {}
  for i = 1, tonumber(ngx.arg[1]) do
    local text = ngx.arg[1 + i] or ""
    parts[i] = #text .. ":" .. text
  end
  return ngx.encode_base64(ngx.sha1_bin(table.concat(parts)))
end

--- The URI of the request with each special letter escaped. ingress-nginx has it from a module
-- that stock nginx lacks.
function _M.escaped_uri()
  return ngx.escape_uri(ngx.var.request_uri)
end

return _M
