-- Sets the certificate of a server with its own TLS context.
require("sluice.certificate").run_own()
