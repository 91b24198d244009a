-- Records the span of a request or a subrequest.
require("sluice.trace").record()
