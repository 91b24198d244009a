-- Passes an error to its backend. The client gets the status of the error.
require("sluice.real_ip").run()
require("sluice.error_page").run(true)
