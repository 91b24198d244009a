package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestConnectionsToManyServicesAreKept: 400 endpoints of 100 Services are more than
// upstream-keepalive-connections, yet each of them is connected to once.
func TestConnectionsToManyServicesAreKept(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		const services, endpoints = 100, 4
		var accepted atomic.Int64
		web := httptest.NewUnstartedServer(echo("web"))
		web.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				accepted.Add(1)
			}
		}
		web.Listener.Close()
		var err error
		if web.Listener, err = net.Listen("tcp4", "0.0.0.0:0"); err != nil {
			t.Fatal(err)
		}
		web.Start()
		t.Cleanup(web.Close)
		port := web.Listener.Addr().(*net.TCPAddr).Port
		var all strings.Builder
		for i := range services {
			name := fmt.Sprint("web-", i)
			all.WriteString(service(name))
			for e := range endpoints {
				all.WriteString(endpoint(name, e, fmt.Sprintf("127.0.%d.%d", i, e+1), port))
			}
			all.WriteString(ingress(name, name+".example", []string{"/ Prefix " + name}))
		}
		s := start(t, root, map[string]string{"class.yaml": class, "config.yaml": oneWorker, "all.yaml": all.String()}, "--configmap", "default/config")
		askAll := func() int64 {
			before := accepted.Load()
			for i := range endpoints * services {
				if a, err := s.get(fmt.Sprintf("http://web-%d.example/", i%services)); err != nil || a.status != http.StatusOK {
					t.Fatalf("status %d, error %v", a.status, err)
				}
			}
			return accepted.Load() - before
		}
		s.waitBackend("http://web-0.example/", "web")
		if first, second := askAll(), askAll(); first < endpoints*services-1 || second != 0 {
			t.Errorf("the first requests to %d endpoints made %d connections, the second ones %d, want none", endpoints*services, first, second)
		}
	})
}
