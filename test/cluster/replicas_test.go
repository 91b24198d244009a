package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// held says by an error that somebody else than a sluice holds a Lease.
func (c *Cluster) held(ctx context.Context, lease string, s *Sluice) error {
	held, err := c.clients.CoordinationV1().Leases("default").Get(ctx, lease, metav1.GetOptions{})
	if err == nil && (held.Spec.HolderIdentity == nil || *held.Spec.HolderIdentity != s.pod()) {
		err = fmt.Errorf("want %s, the Lease says %+v", s.pod(), held.Spec)
	}
	return err
}

// leader gives the one of two replicas that leads, and the other.
func (c *Cluster) leader(t *testing.T, lease string, both [2]*Sluice) (leader, other *Sluice) {
	t.Helper()
	if c.held(t.Context(), lease, both[0]) == nil {
		return both[0], both[1]
	}
	if err := c.held(t.Context(), lease, both[1]); err != nil {
		t.Fatal(err)
	}
	return both[1], both[0]
}

// pod is the pod that a sluice says it is.
func (s *Sluice) pod() string {
	for _, variable := range slices.Backward(s.Environment) {
		if name, ok := strings.CutPrefix(variable, "POD_NAME="); ok {
			return name
		}
	}
	return ""
}

// master is the process id of the nginx master.
func (s *Sluice) master(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.State, "nginx.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// vanish ends a sluice and its nginx at once, as when a node dies.
func (s *Sluice) vanish(t *testing.T) {
	t.Helper()
	master := s.master(t)
	s.Kill()
	if err := syscall.Kill(-master, syscall.SIGKILL); err != nil { // it leads a group of its own
		t.Errorf("kill nginx: %v", err)
	}
}

// leaseTTL is --election-ttl of the tests. A leader that cannot write for a quarter
// of it may lose the Lease, so it is longer than a busy API server takes to answer.
const leaseTTL = 12 * time.Second

// TestLeaderVanishes: the other replica leads when the Lease's time is over, and
// what goes to it is served all the time. What the balancer sends to the dead
// one until it has noticed is lost, and nothing after that.
func TestLeaderVanishes(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name, address = "leaders", "192.0.2.7"
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, append(Web(name, "web", 2), ingressOf(name, name, "first", Rule("first.example", "/", "web", 80)))...)
	c.AwaitEndpoints(t, name, "web", 2)
	both := c.replicas(t, name, "--election-ttl", leaseTTL.String(), "--update-status=true", "--publish-status-address", address)
	b := balance(t, both[0], both[1])
	for _, s := range both {
		s.Launch(t)
		b.await(t, s, true)
	}
	c.awaitStatusLine(t, name, "first", address+":80")
	leader, other := c.leader(t, name, both)
	send := func(what, to string) *Load {
		return Traffic{What: what, URLs: []string{"http://first.example/"}, To: to, Clients: 3, Pause: 10 * time.Millisecond}.Begin(t)
	}
	direct, balanced := send("to the other replica", other.at()), send("through the balancer", b.http)
	died := time.Now()
	leader.vanish(t)
	b.await(t, leader, false)
	noticed := time.Now()
	Eventually(t, "another leader", func(ctx context.Context) error { return c.held(ctx, name, other) })
	led := time.Now()
	c.Apply(t, ingressOf(name, name, "second", Rule("second.example", "/", "web", 80)))
	c.awaitStatusLine(t, name, "second", address+":80")
	EventuallyStatus(t, other.Request("http://second.example/"), http.StatusOK)
	t.Logf("the balancer noticed after %.2f s, the other led after %.2f s, and had served a new Ingress and written its status after %.2f s more",
		noticed.Sub(died).Seconds(), led.Sub(died).Seconds(), time.Since(led).Seconds())
	// Who does not lead looks every quarter of the time, and up to a fifth later.
	if most := leaseTTL + 2*leaseTTL/4*6/5 + time.Second; led.Sub(died) > most {
		t.Errorf("nobody led for %s, want at most %s", led.Sub(died), most)
	}
	direct.NoneFailed(t, 20)
	balanced.Tell(t)
	if late := balanced.failed(noticed); len(late) > 0 {
		t.Errorf("%d requests failed after the balancer had noticed; the first: %s", len(late), late[0].text)
	}
}

// TestControllerIsKilledAlone: its nginx goes on serving what it knows, and
// sends what is idempotent past an endpoint that is gone. The next controller
// takes over, and serves what has changed meanwhile.
func TestControllerIsKilledAlone(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "taken"
	leaving, leaver := standIn(t, says("leaving"))
	staying, _ := standIn(t, says("staying"))
	coming, _ := standIn(t, says("coming"))
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, append(routeTo(name, "web", leaving, staying), ingressOf(name, name, "web", Rule("taken.example", "/", "web", 80)))...)
	both := c.replicas(t, name)
	b := balance(t, both[0], both[1])
	for _, s := range both {
		s.Launch(t)
		b.await(t, s, true)
	}
	killed := both[0]
	request := killed.Request("http://taken.example/")
	send := func(what, to string, kept bool) *Load {
		return Traffic{What: what, URLs: []string{request.URL}, To: to, Kept: kept, Clients: 3, Pause: 10 * time.Millisecond}.Begin(t)
	}
	loads := []*Load{send("through the balancer, a connection a request", b.http, false), send("through the balancer, kept connections", b.http, true)}
	orphan := send("to the nginx of the killed controller", killed.at(), false)
	former := killed.master(t)
	killed.Kill()
	leaver.Close()
	c.Apply(t, append(routeTo(name, "web", coming), ingressOf(name, name, "new", Rule("new.example", "/", "web", 80)))...)
	b.await(t, killed, false)
	request.must(t, http.StatusOK)
	orphan.NoneFailed(t, 5)
	gap := send("to the killed replica while it is taken over", killed.at(), false)
	killed.Launch(t)
	b.await(t, killed, true)
	killed.Request("http://new.example/").must(t, http.StatusOK)
	EventuallyAnswer(t, request, "the new endpoint", func(a *Answer) bool { return a.Body == "coming" })
	if command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", former)); len(command) > 0 { // that of a dead process is empty
		t.Errorf("the former nginx goes on: pid %d, %q", former, command)
	}
	gap.Tell(t)
	for _, l := range loads {
		l.NoneFailed(t, 20)
	}
}

// TestLeaderHandsOverWhileItFinishes: a leader that is stopped has requests that
// go on for long. Another replica leads meanwhile, and writes the status of new
// Ingresses.
func TestLeaderHandsOverWhileItFinishes(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name, address = "handed", "192.0.2.8"
	chat, _ := standIn(t, parrot)
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, append(routeTo(name, "chat", chat), ingressOf(name, name, "first", Rule("chat.example", "/", "chat", 80)))...)
	both := c.replicas(t, name, "--election-ttl", leaseTTL.String(), "--update-status=true", "--publish-status-address", address, "--post-shutdown-grace-period", "3600")
	for _, s := range both {
		s.Launch(t)
		s.AwaitReady(t)
	}
	c.awaitStatusLine(t, name, "first", address+":80")
	leader, other := c.leader(t, name, both)
	v := leader.converse(t, "chat.example")
	if err := leader.Command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	Eventually(t, "another leader", func(ctx context.Context) error { return c.held(ctx, name, other) })
	t.Logf("the other led %.2f s after SIGTERM", time.Since(began).Seconds())
	c.Apply(t, ingressOf(name, name, "second", Rule("second.example", "/", "chat", 80)))
	c.awaitStatusLine(t, name, "second", address+":80")
	if err := v.say("still here"); err != nil {
		t.Errorf("the WebSocket: %v", err)
	}
	v.Close()
	<-leader.Exited
}
