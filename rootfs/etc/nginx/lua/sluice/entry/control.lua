-- Answers the controller.
require("sluice.control").run()
