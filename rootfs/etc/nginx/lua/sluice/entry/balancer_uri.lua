-- Every subrequest, and every retry of one, gets its endpoint.
require("sluice.balancer").run_by_uri()
