-- Every request of a backend with a key of its own, and every retry, gets its endpoint.
require("sluice.balancer").run_by_key()
