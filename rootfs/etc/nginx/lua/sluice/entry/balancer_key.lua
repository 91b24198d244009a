-- Picks an endpoint for a request by $backend, and for each retry.
require("sluice.balancer").run_by_key()
