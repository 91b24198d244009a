-- Hashes the variable that its argument names, for the key of a limit.
return package.loaded["sluice.variables"].limit_key()
