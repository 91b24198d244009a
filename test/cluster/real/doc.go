// Package real runs the image, by the chart, in a whole cluster: two nodes, each
// with kubelet, containerd, runc, a bridge of CNI and kube-proxy, in network
// namespaces of the tests' own, with CoreDNS and a registry. `make test-image` runs
// its tests, as root. Elsewhere they are skipped.
//
//	10.255.0.1     API server, etcd, registry; the tests
//	192.0.2.7      a client that is on no node
//	10.255.0.11/12 the nodes; their pods have 10.244.1.0/24 and 10.244.2.0/24
//	10.255.1.0/24  addresses of load balancers
package real
