-- Answers a request for which there is no endpoint, where the backend does not speak HTTP.
package.loaded["sluice.real_ip"].run()
package.loaded["sluice.balancer"].refuse("route")
