-- Sets the certificate of a TLS handshake by server name.
require("sluice.certificate").run()
