-- Tells the picker of the backend that a request has ended.
require("sluice.try").done()
