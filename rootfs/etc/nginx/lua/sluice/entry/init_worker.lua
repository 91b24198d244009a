-- A worker that accepts connections says so.
require("sluice.runtime").register(ngx.shared.sluice_runtime)
require("sluice.memory").trim()
