-- Sets the certificate of a server with its own TLS context.
package.loaded["sluice.certificate"].run_own()
