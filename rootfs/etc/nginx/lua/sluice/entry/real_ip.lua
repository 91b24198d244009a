-- Sets the header from which nginx takes the client's address.
package.loaded["sluice.real_ip"].run()
