-- Picks an endpoint for a subrequest, and for each retry.
require("sluice.balancer").run_by_uri()
