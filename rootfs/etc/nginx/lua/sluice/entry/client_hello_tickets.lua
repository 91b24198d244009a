-- Sets the key of session tickets, and the certificate of a TLS handshake by server name.
require("sluice.tickets").refresh()
require("sluice.certificate").run()
