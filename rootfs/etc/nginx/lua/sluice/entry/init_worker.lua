-- A worker that accepts connections says so, when nothing is left to do first.
require("sluice.requestlog").part()
require("sluice.memory").trim()
require("sluice.runtime").register(ngx.shared.sluice_runtime)
