-- Picks an endpoint for a request by $route, and for each retry.
require("sluice.balancer").run()
