-- Every TLS handshake gets its certificate by server name.
require("sluice.certificate").run()
