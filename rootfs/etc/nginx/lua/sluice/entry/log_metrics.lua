-- Counts a request for the metrics. init.lua has loaded the module. LuaJIT compiles this access to it, but not a call of
-- require.
package.loaded["sluice.metrics"].count()
