-- Sets the key of session tickets, and the certificate of a TLS handshake by server name.
package.loaded["sluice.tickets"].refresh()
package.loaded["sluice.certificate"].run()
