// Package certmanager tests the chart and Sluice beside cert-manager, with the controllers,
// the CA injector and the HTTP-01 solver of its release, and beside Pebble, an ACME server
// that validates challenges by requests to Sluice's ports. `make test-image` runs its
// tests, because building cert-manager takes minutes.
//
//	10.255.80.80         Sluice, at ports 80 and 443; the DNS server gives this address for every host
//	127.0.0.1:14000      the ACME server; its roots are at port 15000
//	127.0.0.1:8053       the DNS server
package certmanager
