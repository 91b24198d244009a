package cluster

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/test/kit"
)

// TestOutages is about an API server that is away, and one that is back but has
// forgotten what came meanwhile.
func TestOutages(t *testing.T) {
	c := Start(t)
	t.Run("away", func(t *testing.T) { away(t, c) })
	t.Run("too old", func(t *testing.T) { tooOld(t, c) })
}

// away: while the API server is away all goes on being served as it was, and when
// it is back, what is changed then is taken in. The outage is said once, and its
// end.
func away(t *testing.T, c *Cluster) {
	s := newSite(t, c, "away")
	s.web(t, "web", 2)
	cert := s.TLSSecret(t, "away", "cert", "away.example")
	s.Apply(t, cert, covered(annotated(s.ingress("web", Rule("away.example", "/", "web", 80)), "ssl-redirect", "false"), "cert", "away.example"),
		s.ingress("leaving", Rule("leaving.away.example", "/", "web", 80)))
	request, secure := s.get("away.example", "/"), s.Request("https://away.example/")
	EventuallyAnswer(t, request, "the pod", from("web"))
	EventuallyAnswer(t, secure, "its certificate", isCertificate(certificateIn(t, cert)))
	EventuallyAnswer(t, s.get("leaving.away.example", "/"), "the pod", from("web"))
	s.awaitReload(t, "servers=3 ")
	reloads, conf := s.reloads(t), s.conf(t)

	c.StopAPIServer(t)
	logged(t, s.Sluice, "level=ERROR", "the API server cannot be reached")
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); {
		must(t, request, "the pod, without an API server", from("web"))
		must(t, secure, "its certificate, without an API server", isCertificate(certificateIn(t, cert)))
		if s.Ready() != http.StatusOK {
			t.Fatal("it is not ready any more")
		}
	}
	// Deleted before the watches are back: only a list can tell.
	c.StartAPIServer(t)
	renewed := s.TLSSecret(t, "away", "cert", "away.example")
	s.Apply(t, renewed, s.ingress("new", Rule("new.away.example", "/", "web", 80)), Deployment("away", "web", 1))
	takes(t, "an Ingress deleted as the API server came back", func() { s.Delete(t, s.ingress("leaving")) }, s.get("leaving.away.example", "/"), status(http.StatusNotFound))
	takes(t, "one created then", func() {}, s.get("new.away.example", "/"), from("web"))
	takes(t, "a certificate renewed then", func() {}, secure, isCertificate(certificateIn(t, renewed)))
	address := s.AwaitEndpoints(t, "away", "web", 1)[0]
	takes(t, "fewer pods", func() {}, request, func(a *Answer) bool { return from("web")(a) && a.Echo.IP == address })
	logged(t, s.Sluice, `msg="read again"`, "the API server cannot be reached")
	if reloads == s.reloads(t) || conf == s.conf(t) {
		t.Error("the test does not see reloads")
	}
	s.saidOnce(t)
}

// saidOnce wants one outage in the log, and its end.
func (s *site) saidOnce(t *testing.T) {
	t.Helper()
	errors, ends := s.Log.Lines(t, `msg="cannot be read;`), s.Log.Lines(t, `msg="read again"`)
	if len(errors) != 1 || len(ends) != 1 {
		t.Errorf("want one error and its end, got\n%s\n%s", strings.Join(errors, "\n"), strings.Join(ends, "\n"))
	}
}

// tooOld: watches that were cut and are too old to go on, because etcd has
// forgotten what came since, lead to the state as it is now.
func tooOld(t *testing.T, c *Cluster) {
	through := cut(t, c)
	c.Apply(t, classOf("old"))
	s := &site{Cluster: c, name: "old", Sluice: RunSluice(t, through.kubeconfig, flagsFor("old", "--configmap", "old/settings")...)}
	s.web(t, "web", 1)
	cert := s.TLSSecret(t, "old", "cert", "kept.old.example")
	s.Apply(t, cert, covered(annotated(s.ingress("kept", Rule("kept.old.example", "/", "web", 80)), "ssl-redirect", "false"), "cert", "kept.old.example"),
		s.ingress("gone", Rule("gone.old.example", "/", "web", 80)))
	kept, gone := s.get("kept.old.example", "/"), s.get("gone.old.example", "/")
	EventuallyAnswer(t, kept, "the pod", from("web"))
	EventuallyAnswer(t, gone, "the pod", from("web"))
	EventuallyAnswer(t, s.Request("https://kept.old.example/"), "its certificate", isCertificate(certificateIn(t, cert)))

	former := s.AwaitEndpoints(t, "old", "web", 1)[0]

	// Only sluice is cut off, so that everything can change meanwhile.
	through.block()
	logged(t, s.Sluice, "level=ERROR", "the API server cannot be reached")
	renewed := s.TLSSecret(t, "old", "cert", "kept.old.example")
	s.Delete(t, s.ingress("gone"))
	s.Apply(t, renewed, s.ingress("new", Rule("new.old.example", "/", "later", 80)))
	s.web(t, "later", 1)
	s.Delete(t, Service("old", "web"))
	s.Apply(t, Service("old", "web"), Deployment("old", "web", 0))
	kit.Await(t, "the end of the former pod", func() bool { return len(c.Pods(t, "old", "web")) == 0 })
	s.Apply(t, Deployment("old", "web", 1))
	address := s.AwaitEndpoints(t, "old", "web", 1)[0]
	if address == former {
		t.Fatalf("the pod at %s was not replaced", former)
	}
	c.CompactEtcd(t)
	must(t, gone, "the former state, as nobody told of another", func(a *Answer) bool { return a.Status != http.StatusNotFound })
	through.open()
	takes(t, "a pod in the place of another", func() {}, kept, func(a *Answer) bool { return from("web")(a) && a.Echo.IP == address })
	takes(t, "an Ingress that was deleted", func() {}, gone, status(http.StatusNotFound))
	takes(t, "one that was created", func() {}, s.get("new.old.example", "/"), from("later"))
	takes(t, "a certificate that was renewed", func() {}, s.Request("https://kept.old.example/"), isCertificate(certificateIn(t, renewed)))
	settings := &corev1.ConfigMap{Data: map[string]string{"force-ssl-redirect": "true"}}
	settings.Namespace, settings.Name = "old", "settings"
	takes(t, "watches go on", func() { s.Apply(t, settings) }, s.get("new.old.example", "/"), status(http.StatusPermanentRedirect))
	logged(t, s.Sluice, `msg="read again"`, "the API server cannot be reached")
	s.saidOnce(t)
}

// link is one client's way to the API server, which can be cut.
type link struct {
	kubeconfig, target string

	mu          sync.Mutex
	blocked     bool
	connections map[net.Conn]bool
}

// cut gives the administrator's access over a link.
func cut(t testing.TB, c *Cluster) *link {
	t.Helper()
	config := c.Config()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	// A name that the API server's certificate has.
	config.Host = fmt.Sprintf("https://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	l := &link{kubeconfig: c.mustWriteKubeconfig(t, config), target: target.Host, connections: map[net.Conn]bool{}}
	go l.serve(listener)
	return l
}

func (l *link) serve(listener net.Listener) {
	for {
		here, err := listener.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", l.target)
		if err != nil || !l.enter(here, there) {
			here.Close()
			continue
		}
		go pass(here, there)
		go pass(there, here)
	}
}

func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
}

// enter notes the two ends of a connection, unless there may be none.
func (l *link) enter(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		if l.blocked {
			end.Close()
			continue
		}
		l.connections[end] = true
	}
	return !l.blocked
}

// block cuts all connections, and those that are tried until open.
func (l *link) block() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked = true
	for end := range l.connections {
		end.Close()
	}
	clear(l.connections)
}

func (l *link) open() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocked = false
}
