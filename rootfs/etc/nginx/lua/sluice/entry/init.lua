-- Loads all modules once, in the master, so that a missing one fails the load of the configuration.
for _, name in ipairs({ "balancer", "certificate", "control", "memory" }) do require("sluice." .. name) end
require("sluice.runtime").boot(ngx.shared.sluice_runtime)
