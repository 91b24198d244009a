-- Sets the certificate of a TLS handshake by server name.
package.loaded["sluice.certificate"].run()
