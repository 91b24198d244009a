-- Passes an error to its backend, which decides about the status.
package.loaded["sluice.real_ip"].run()
package.loaded["sluice.error_page"].run(false)
