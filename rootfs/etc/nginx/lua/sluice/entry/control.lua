-- The controller pushes state and asks for the status.
require("sluice.control").run()
