-- Tells the balancer that a request has ended.
package.loaded["sluice.turns"].done()
