-- Nothing is left to do when a worker ends.
require("sluice.memory").leave()
