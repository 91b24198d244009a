-- Tells the balancer that a request has ended.
require("sluice.balancer").done()
