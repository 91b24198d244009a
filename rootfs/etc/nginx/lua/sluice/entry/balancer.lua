-- Picks an endpoint for a request by $route, and for each retry.
package.loaded["sluice.balancer"].run()
