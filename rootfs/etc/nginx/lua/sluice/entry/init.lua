-- Loads all modules once, in the master, so that a missing one fails the load of the configuration.
for _, name in ipairs({ "balancer", "certificate", "control", "memory", "requestlog" }) do require("sluice." .. name) end
-- This configuration is in the places of the one that the last reload let go of. What is left of these, as when hosts
-- have gone, goes back to the system.
require("sluice.memory").trim()
require("sluice.requestlog").find()
require("sluice.runtime").boot(ngx.shared)
