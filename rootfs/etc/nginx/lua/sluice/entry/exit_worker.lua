-- Ends a worker without freeing its memory first.
require("sluice.memory").leave()
