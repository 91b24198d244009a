-- Prepares a worker, and then registers it as one that accepts connections.
require("sluice.requestlog").part()
require("sluice.memory").trim()
require("sluice.runtime").register(ngx.shared.sluice_runtime)
