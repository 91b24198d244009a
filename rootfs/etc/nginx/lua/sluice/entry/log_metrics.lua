-- Counts a request for the metrics.
package.loaded["sluice.metrics"].count()
