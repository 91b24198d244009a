-- Answers an error of nginx in a location of a gRPC backend.
require("sluice.grpc_error").run()
