-- Tells the balancer that a request has ended, and records its span, where there is one. Counts it for the metrics.
require("sluice.turns").done()
require("sluice.trace").record()
require("sluice.metrics").count()
