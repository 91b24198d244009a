-- Returns 1 if the body of a request that a dispatch passed on is longer than the argument.
return package.loaded["sluice.dispatch"].too_long()
