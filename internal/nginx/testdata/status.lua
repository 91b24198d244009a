-- Answers with the load, the registered workers and their number.
local cjson = require("cjson")
local runtime, workers = ngx.shared.sluice_runtime, setmetatable({}, cjson.empty_array_mt)
for _, key in ipairs(runtime:get_keys(0)) do
  local load, pid = key:match("^w:(%d+):(%d+)$")
  if load then
    workers[#workers + 1] = { Load = tonumber(load), PID = tonumber(pid) }
  end
end
ngx.print(cjson.encode({ Load = require("load"), Expected = ngx.worker.count(), Workers = workers }))
