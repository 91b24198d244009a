-- Records the span of a request or a subrequest.
package.loaded["sluice.trace"].record()
