-- Sends the last spans and counts, and ends a worker without freeing its memory first.
require("sluice.trace").leave()
require("sluice.metrics").leave_worker()
require("sluice.memory").leave()
