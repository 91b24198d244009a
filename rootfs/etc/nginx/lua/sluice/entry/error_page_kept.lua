-- Passes an error to its backend. The client gets the status of the error.
package.loaded["sluice.real_ip"].run()
package.loaded["sluice.error_page"].run(true)
