-- Passes the request to the internal location that takes it by its method, headers and parameters.
return package.loaded["sluice.dispatch"].run()
