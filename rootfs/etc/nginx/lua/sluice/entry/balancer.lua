-- Picks an endpoint for a request by $route, and for each retry. init.lua has loaded the module. LuaJIT compiles this
-- access to it, but not a call of require.
package.loaded["sluice.balancer"].run()
