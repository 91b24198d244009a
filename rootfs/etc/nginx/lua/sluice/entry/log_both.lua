-- Tells the balancer that a request has ended, and records its span.
require("sluice.turns").done()
require("sluice.trace").record()
