-- Answers the header at once and ends when the file "release" exists.
ngx.say("held")
ngx.flush(true)
while true do
  local f = io.open(ngx.var.release)
  if f then f:close() return end
  ngx.sleep(0.01)
end
