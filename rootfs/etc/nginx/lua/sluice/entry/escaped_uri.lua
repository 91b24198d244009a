-- Escapes the URI of the request for the parameter of another URI.
return package.loaded["sluice.variables"].escaped_uri()
