-- Returns 1 if there is no endpoint for the request, whose backend the argument names.
return package.loaded["sluice.balancer"].no_endpoints()
