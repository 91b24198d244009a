-- Tells the balancer that a request has ended, and records its span.
package.loaded["sluice.turns"].done()
package.loaded["sluice.trace"].record()
