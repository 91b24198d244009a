-- Loads all modules in the master, so that the load of a configuration fails if one is missing.
for _, name in ipairs({ "balancer", "certificate", "control", "debug_header", "grpc_error", "memory", "metrics", "real_ip", "requestlog", "session", "tickets", "trace" }) do require("sluice." .. name) end
-- The new configuration reuses the memory of the last but one. The rest of that memory, as after hosts have gone, is
-- returned to the system.
require("sluice.memory").trim()
require("sluice.requestlog").find()
require("sluice.runtime").boot(ngx.shared)
