-- Every request, and every retry, gets its endpoint.
require("sluice.balancer").run()
