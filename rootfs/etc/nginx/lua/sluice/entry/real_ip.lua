-- Sets the header from which nginx takes the client's address.
require("sluice.real_ip").run()
