-- Answers an error of nginx in a location of a gRPC backend.
package.loaded["sluice.grpc_error"].run()
