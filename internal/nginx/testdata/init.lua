-- Counts the loads of this master, and lets a test see that init ran.
package.loaded.load = ngx.shared.sluice_runtime:incr("load", 1, 0)
