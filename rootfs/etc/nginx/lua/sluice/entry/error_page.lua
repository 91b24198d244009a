-- Passes an error to its backend, which decides about the status.
require("sluice.real_ip").run()
require("sluice.error_page").run(false)
