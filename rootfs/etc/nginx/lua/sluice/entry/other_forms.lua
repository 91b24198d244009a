-- Takes headers from the request that pass for those of its arguments, which are believed.
return package.loaded["sluice.real_ip"].clear_other_forms()
