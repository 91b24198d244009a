-- Loads all modules in the master, so that the load of a configuration fails if one is missing. What runs for a request takes
-- them from package.loaded: LuaJIT compiles that, but not a call of require.
for _, name in ipairs({ "auth_cookies", "balancer", "certificate", "control", "debug_header", "dispatch", "error_page", "grpc_error", "memory", "metrics", "real_ip", "requestlog", "session", "tickets", "trace", "variables" }) do require("sluice." .. name) end
-- The new configuration reuses the memory of the last but one. The rest of that memory, as after hosts have gone, is
-- returned to the system.
require("sluice.memory").trim()
require("sluice.requestlog").find()
require("sluice.runtime").boot(ngx.shared)
