-- Tells the balancer that a request has ended, and counts it for the metrics.
package.loaded["sluice.turns"].done()
package.loaded["sluice.metrics"].count()
