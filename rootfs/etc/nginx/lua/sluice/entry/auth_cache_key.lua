-- Hashes its arguments, of which the first is their number. Each counts with its length, so
-- that no two lists give the same text; nginx gives nil for an empty variable. The hash keeps
-- passwords off the disk.
local parts = {}
for i = 1, tonumber(ngx.arg[1]) do
  local text = ngx.arg[1 + i] or ""
  parts[i] = #text .. ":" .. text
end
return ngx.encode_base64(ngx.sha1_bin(table.concat(parts)))
