-- Passes the request to the internal location that answers in place of one without endpoints.
return package.loaded["sluice.dispatch"].pass()
