require("sluice.debug_header").run()
