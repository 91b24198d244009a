-- Sets the certificate of a server that verifies its clients.
package.loaded["sluice.certificate"].run_own()
package.loaded["sluice.session"].forbid_resumption()
