-- Registers this worker until it stops accepting.
local runtime, load = ngx.shared.sluice_runtime, require("load")
local key = "w:" .. load .. ":" .. ngx.worker.pid()
runtime:set(key, true)
ngx.timer.at(86400, function() runtime:delete(key) end)
