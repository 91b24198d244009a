-- Tells the balancer that a request has ended, and records its span, where there is one. Counts it for the metrics.
package.loaded["sluice.turns"].done()
package.loaded["sluice.trace"].record()
package.loaded["sluice.metrics"].count()
