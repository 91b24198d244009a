-- Answers a request for which there is no endpoint, where the backend does not speak HTTP.
require("sluice.real_ip").run()
require("sluice.balancer").refuse(ngx.var.backend)
