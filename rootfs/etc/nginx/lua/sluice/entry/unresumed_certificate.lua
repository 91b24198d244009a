-- Sets the certificate of a server that verifies its clients.
require("sluice.certificate").run_own()
require("sluice.session").forbid_resumption()
