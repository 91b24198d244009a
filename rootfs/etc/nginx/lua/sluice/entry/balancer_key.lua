-- Picks an endpoint for a request by $backend, and for each retry.
package.loaded["sluice.balancer"].run_by_key()
