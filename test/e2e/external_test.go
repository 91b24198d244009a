package e2e

import (
	"path/filepath"
	"testing"

	"sluice/test/kit"
)

// TestBadIngressWithAnNginxThatSomethingElseRuns: also where nginx is only
// signalled, one bad Ingress stops nobody, be it there at the start or later,
// before or after a restart of that nginx.
func TestBadIngressWithAnNginxThatSomethingElseRuns(t *testing.T) {
	for _, nginx := range kit.Nginxes(t) {
		t.Run(nginx.Name, func(t *testing.T) { badWithAnother(t, nginx) })
	}
}

func badWithAnother(t *testing.T, nginx kit.Nginx) {
	web := backend(t, "web")
	manifests := oneHost(web)
	manifests["bad.yaml"] = bad("bad", "bad.example")
	s := prepare(t, nginx.Root, manifests)
	s.set("--nginx-pid-file", filepath.Join(s.State, "nginx.pid"))
	s.launch()
	s.waitLine("waiting for nginx")
	other := startNginx(t, nginx, s.State)
	s.waitBackend("http://a.example/", "web")

	s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
	s.waitBackend("http://b.example/", "web")
	stopNginx(other)
	startNginx(t, nginx, s.State)
	s.waitBackend("http://b.example/", "web")
	s.write("worse.yaml", bad("worse", "worse.example"))
	s.write("c.yaml", ingress("c", "c.example", []string{"/ Prefix web"}))
	s.waitBackend("http://c.example/", "web")
}
