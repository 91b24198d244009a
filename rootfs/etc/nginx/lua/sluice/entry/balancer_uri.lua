-- Picks an endpoint for a subrequest, and for each retry.
package.loaded["sluice.balancer"].run_by_uri()
