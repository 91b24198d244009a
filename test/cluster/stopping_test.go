package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"sluice/test/kit"
)

// leastRequests is how many requests each kind of client has sent at least when
// it is said that none failed.
const leastRequests = 6000

// replicas prepares two sluices for what alone speaks of, which leave a balancer
// the time to notice that they stop.
func (c *Cluster) replicas(t *testing.T, name string, more ...string) [2]*Sluice {
	t.Helper()
	flags := alone(name, append([]string{"--shutdown-grace-period", probeGrace, "--post-shutdown-grace-period", "8"}, more...)...)
	admin := c.Kubeconfig(t, "admin", "system:masters")
	return [2]*Sluice{PrepareSluice(t, admin, flags...), PrepareSluice(t, admin, flags...)}
}

// TestReplicasRestartInTurn: each of two replicas is stopped by SIGTERM under
// load behind a balancer, and started again. Clients with a connection a request
// lose nothing, and neither do those that keep a connection and send an
// idempotent request again when it was closed.
func TestReplicasRestartInTurn(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name, host = "restarted", "restarted.example"
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, append(Web(name, "web", 2), ingressOf(name, name, "web", Rule(host, "/", "web", 80)))...)
	c.AwaitEndpoints(t, name, "web", 2)
	both := c.replicas(t, name)
	b := balance(t, both[0], both[1])
	for _, s := range both {
		s.Launch(t)
		s.AwaitReady(t)
		b.await(t, s, true)
	}
	send := func(what, method string, kept bool, clients int) *Load {
		return Traffic{What: what, Method: method, URLs: []string{"http://" + host + "/"}, To: b.http, Kept: kept, Clients: clients, Pause: 10 * time.Millisecond}.Begin(t)
	}
	fresh := send("a connection a request", http.MethodGet, false, 6)
	kept := send("kept connections, idempotent requests sent again", http.MethodGet, true, 6)
	posts := send("kept connections, POST, never sent twice", http.MethodPost, true, 1)
	second := Traffic{What: "HTTP/2", URLs: []string{"https://" + host + "/"}, To: b.https, Kept: true, Proto: "HTTP/2.0", Clients: 2, Pause: 10 * time.Millisecond}.Begin(t)
	began, times := time.Now(), 0
	for ; times < 2 || fresh.Answered() < leastRequests || kept.Answered() < leastRequests; times++ {
		both[times%2].restartBehind(t, b)
	}
	t.Logf("%d restarts of one of two replicas, in turn, in %.1f s", times, time.Since(began).Seconds())
	fresh.NoneFailed(t, leastRequests)
	kept.NoneFailed(t, leastRequests)
	second.NoneFailed(t, 100)
	// HTTP lets a client find out by itself that a kept connection was closed,
	// and says of what is not idempotent that it be not sent again.
	posts.Tell(t)
	for i, one := range b.targets {
		if one.taken.Load() == 0 {
			t.Errorf("replica %d got no connection", i+1)
		}
	}
}

// restartBehind stops a replica by SIGTERM and starts it again, each time until the
// balancer has noticed.
func (s *Sluice) restartBehind(t *testing.T, b *balancer) {
	t.Helper()
	s.Terminate()
	if s.Err != nil {
		t.Errorf("a replica ended with %v", s.Err)
	}
	b.await(t, s, false)
	s.Launch(t)
	s.AwaitReady(t)
	b.await(t, s, true)
}

// routeTo is unselected for Apply.
func routeTo(namespace, name string, addresses ...string) []runtime.Object {
	service, slice := unselected(namespace, name, addresses...)
	return []runtime.Object{service, slice}
}

// standIn serves a handler at an address of its own, as a pod would, until the
// test ends or the server is closed.
func standIn(t *testing.T, handler http.HandlerFunc) (address string, server *http.Server) {
	t.Helper()
	address = newAddress()
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", address, PodPort))
	if err != nil {
		t.Fatal(err)
	}
	server = &http.Server{Handler: handler}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return address, server
}

// parrot takes over a connection, as a WebSocket server does, and says each line
// again.
func parrot(w http.ResponseWriter, r *http.Request) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	fmt.Fprintf(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
	_, _ = io.Copy(connection, buffered)
}

// conversation is a connection to parrot through a sluice.
type conversation struct {
	net.Conn
	answers *bufio.Reader
}

func (s *Sluice) converse(t *testing.T, host string) *conversation {
	t.Helper()
	connection, err := net.Dial("tcp", s.at())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(kit.Patience))
	fmt.Fprintf(connection, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", host)
	v := &conversation{connection, bufio.NewReader(connection)}
	response, err := http.ReadResponse(v.answers, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("upgrade: %v, %v", response, err)
	}
	return v
}

// say says a line and takes the answer.
func (v *conversation) say(text string) error {
	if _, err := fmt.Fprintln(v, text); err != nil {
		return err
	}
	answer, err := v.answers.ReadString('\n')
	if err == nil && strings.TrimSpace(answer) != text {
		err = fmt.Errorf("the answer to %q is %q", text, answer)
	}
	return err
}

// TestStopFinishesWhatIsUnderWay: a slow answer, an upload and a WebSocket that
// were begun before SIGTERM go on after nginx has stopped listening, the last of
// them until --post-shutdown-grace-period is over.
func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "underway"
	address, _ := standIn(t, parrot)
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, append(routeTo(name, "chat", address), ingressOf(name, name, "chat", Rule("chat.example", "/", "chat", 80)))...)
	asked, finish := make(chan struct{}), make(chan struct{})
	slowly, _ := standIn(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			close(asked)
			<-finish
		}
	})
	c.Apply(t, append(routeTo(name, "web", slowly), ingressOf(name, name, "web", Rule("slow.example", "/", "web", 80)))...)
	s := RunSluice(t, c.Kubeconfig(t, "admin", "system:masters"), alone(name, "--shutdown-grace-period", "1", "--post-shutdown-grace-period", "6")...)
	EventuallyStatus(t, s.Request("http://slow.example/"), http.StatusOK)
	v := s.converse(t, "chat.example")
	body, end := io.Pipe()
	slow, upload := s.begin(t, http.MethodPost, nil), s.begin(t, http.MethodPut, body)
	<-asked
	_, err := io.WriteString(end, "the first part")
	if err := errors.Join(err, v.say("before"), s.Command.Process.Signal(syscall.SIGTERM)); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	kit.Await(t, "the end of listening", func() bool {
		connection, err := net.Dial("tcp", s.at())
		if err == nil {
			connection.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	listened := time.Since(stopped)
	underWay := map[string]<-chan error{"the slow answer": slow, "the upload": upload}
	for what, answered := range underWay {
		select {
		case err := <-answered:
			t.Fatalf("%s came before nginx listened no more, which says nothing: %v", what, err)
		default:
		}
	}
	close(finish)
	if _, err := io.WriteString(end, "the rest"); err != nil {
		t.Error(err)
	}
	end.Close()
	for what, answered := range underWay {
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	answered := time.Since(stopped)
	if err := v.say("after"); err != nil {
		t.Errorf("the WebSocket, %s after SIGTERM: %v", answered.Round(time.Millisecond), err)
	}
	for v.say("on and on") == nil {
		<-time.After(pollEvery)
	}
	t.Logf("after SIGTERM: listened for %s, answered all after %s, cut the WebSocket after %s",
		listened.Round(time.Millisecond), answered.Round(time.Millisecond), time.Since(stopped).Round(time.Millisecond))
	if lived := time.Since(stopped); lived < 6*time.Second {
		t.Errorf("the WebSocket was cut %s after SIGTERM, before both grace periods were over", lived)
	}
	<-s.Exited
}

// begin sends a request to slow.example. The channel gets nil when it is answered
// with 200, or the error.
func (s *Sluice) begin(t *testing.T, method string, body io.Reader) <-chan error {
	t.Helper()
	answered := make(chan error, 1)
	request, err := http.NewRequestWithContext(t.Context(), method, "http://slow.example/", body)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		response, err := Request{To: s.at()}.transport().RoundTrip(request)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d", response.StatusCode)
		}
		answered <- err
	}()
	return answered
}
