package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/test/kit"
)

// lineBackend answers each line of a TCP connection with its name and the line.
func lineBackend(t *testing.T, name string) int {
	t.Helper()
	return kit.Accept(t, func(connection net.Conn) { answerLines(connection, name) })
}

func answerLines(connection net.Conn, name string) {
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		fmt.Fprintf(connection, "%s %s\n", name, strings.TrimSuffix(lines.Text(), "\r"))
	}
}

// packetBackend answers each UDP packet with its name and the packet.
func packetBackend(t *testing.T, name string) int {
	t.Helper()
	listener, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		packet := make([]byte, 1500)
		for {
			n, from, err := listener.ReadFrom(packet)
			if err != nil {
				return
			}
			_, _ = listener.WriteTo([]byte(name+" "+string(packet[:n])), from)
		}
	}()
	return listener.LocalAddr().(*net.UDPAddr).Port
}

// streamService gives a Service of a protocol with one port, 7000, and endpoints
// on this machine.
func streamService(name, protocol string, ports ...int) string {
	manifest := fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: default}\nspec: {ports: [{name: raw, port: 7000, protocol: %s}]}\n---\n", name, protocol)
	for i, port := range ports {
		manifest += fmt.Sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %s-%d, namespace: default, labels: {kubernetes.io/service-name: %s}}\n"+
			"addressType: IPv4\nports: [{name: raw, port: %d, protocol: %s}]\nendpoints: [{addresses: [127.0.0.1], conditions: {ready: true}}]\n---\n", name, i, name, port, protocol)
	}
	return manifest
}

// streamMap gives the ConfigMap default/NAME; entries are "PORT VALUE".
func streamMap(name string, entries ...string) string {
	manifest := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\ndata:\n  {", name)
	for _, entry := range entries {
		key, value, _ := strings.Cut(entry, " ")
		manifest += fmt.Sprintf("%q: %q, ", key, value)
	}
	return manifest + "}\n---\n"
}

var streamFlags = []string{"--tcp-services-configmap", "default/tcp", "--udp-services-configmap", "default/udp"}

// talk is a connection to a TCP service.
type talk struct {
	net.Conn
	lines *bufio.Reader
}

func dialStream(port int) (*talk, error) {
	connection, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), kit.Patience)
	if err != nil {
		return nil, err
	}
	return &talk{connection, bufio.NewReader(connection)}, connection.SetDeadline(time.Now().Add(kit.Patience))
}

// say sends text and gives the next line, "" if there is none.
func (c *talk) say(text string) string {
	if _, err := fmt.Fprint(c, text); err != nil {
		return ""
	}
	line, err := c.lines.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(line, "\n")
}

// once sends text over a connection of its own and gives the first line.
func once(port int, text string) string {
	c, err := dialStream(port)
	if err != nil {
		return ""
	}
	defer c.Close()
	return c.say(text)
}

// TestTCPServices: PROXY headers are taken off and put on as the entries say,
// and the client that one names is the one that the other tells.
func TestTCPServices(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		plain, in, out, both := kit.Port(t), kit.Port(t), kit.Port(t), kit.Port(t)
		s := start(t, root, map[string]string{
			"class.yaml": class, "db.yaml": streamService("db", "TCP", lineBackend(t, "db")),
			"tcp.yaml": streamMap("tcp", fmt.Sprint(plain, " default/db:7000"), fmt.Sprint(in, " default/db:raw:PROXY"),
				fmt.Sprint(out, " default/db:7000::proxy"), fmt.Sprint(both, " default/db:7000:Proxy:PROXY"), "1 default/nosuch:1"),
			"udp.yaml": streamMap("udp"),
		}, streamFlags...)
		const announced = "PROXY TCP4 203.0.113.20 192.0.2.1 4444 9904\r\n"
		for name, test := range map[string]struct {
			port        int
			sent, start string
		}{
			"plain":       {plain, "hello\n", "db hello"},
			"taken off":   {in, announced + "hello\n", "db hello"},
			"put on":      {out, "hello\n", "db PROXY TCP4 127.0.0.1 127.0.0.1 "},
			"both":        {both, announced + "hello\n", "db PROXY TCP4 203.0.113.20 "},
			"none to off": {in, "hello, this is no PROXY header\n", ""},
		} {
			if got := once(test.port, test.sent); !strings.HasPrefix(got, test.start) || test.start == "" && got != "" {
				t.Errorf("%s: got %q, want %q", name, got, test.start)
			}
		}
		s.waitLine(`field=1 reason=NotFound text="Service default/nosuch does not exist (got \"default/nosuch:1\"): nothing listens on this port"`)
	})
}

// TestUDPServices: packets are passed on and answered, and the same port may be
// that of a TCP service.
func TestUDPServices(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		port := kit.Port(t)
		start(t, root, map[string]string{
			"class.yaml": class, "dns.yaml": streamService("dns", "UDP", packetBackend(t, "dns")), "db.yaml": streamService("db", "TCP", lineBackend(t, "db")),
			"udp.yaml": streamMap("udp", fmt.Sprint(port, " default/dns:raw")), "tcp.yaml": streamMap("tcp", fmt.Sprint(port, " default/db:raw")),
		}, streamFlags...)
		if got := once(port, "hello\n"); got != "db hello" {
			t.Errorf("over TCP: %q", got)
		}
		client, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for _, question := range []string{"first", "second"} {
			if err := client.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
				t.Fatal(err)
			}
			answer := make([]byte, 100)
			_, err := client.Write([]byte(question))
			if err != nil {
				t.Fatal(err)
			}
			n, err := client.Read(answer)
			if err != nil || string(answer[:n]) != "dns "+question {
				t.Errorf("%s: got %q, %v", question, answer[:n], err)
			}
		}
	})
}

// TestStreamEndpointsChange: new connections get the new endpoint, one that is
// open goes on with its own. Without endpoints connections are refused at once,
// and the web goes on.
func TestStreamEndpointsChange(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		port, web := kit.Port(t), backend(t, "web")
		manifests := oneHost(web)
		manifests["db.yaml"] = streamService("db", "TCP", lineBackend(t, "old"))
		manifests["tcp.yaml"], manifests["udp.yaml"] = streamMap("tcp", fmt.Sprint(port, " default/db:7000")), streamMap("udp")
		s := start(t, root, manifests, streamFlags...)
		open, err := dialStream(port)
		if err != nil {
			t.Fatal(err)
		}
		defer open.Close()
		if got := open.say("before\n"); got != "old before" {
			t.Fatalf("got %q", got)
		}
		s.write("db.yaml", streamService("db", "TCP", lineBackend(t, "new")))
		eventually(t, "the new endpoint to answer", func() bool { return once(port, "hello\n") == "new hello" })
		for i := range 20 {
			if got, want := open.say(fmt.Sprintln("after", i)), "old after "+strconv.Itoa(i); got != want {
				t.Fatalf("the open connection: got %q, want %q", got, want)
			}
		}
		s.write("db.yaml", streamService("db", "TCP"))
		eventually(t, "connections to be refused", func() bool {
			_, err := dialStream(port)
			return errors.Is(err, syscall.ECONNREFUSED)
		})
		s.waitLine("has no endpoint for port 7000 that serves")
		if got := open.say("still\n"); got != "old still" {
			t.Errorf("the open connection: got %q", got)
		}
		s.waitBackend("http://a.example/", "web")
	})
}

// TestPortOfAServiceIsTaken: what else is in a ConfigMap and the web are served,
// at the start and later; the Problem names the key, and once the port is free
// the service is there.
func TestPortOfAServiceIsTaken(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		first, web := kit.Port(t), backend(t, "web")
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		port := taken.Addr().(*net.TCPAddr).Port
		manifests := oneHost(web)
		manifests["db.yaml"] = streamService("db", "TCP", lineBackend(t, "db"))
		manifests["tcp.yaml"], manifests["udp.yaml"] = streamMap("tcp", fmt.Sprint(first, " default/db:7000"), fmt.Sprint(port, " default/db:7000")), streamMap("udp")
		s := start(t, root, manifests, streamFlags...)
		s.waitBackend("http://a.example/", "web")
		if got := once(first, "hello\n"); got != "db hello" {
			t.Errorf("the other service: got %q", got)
		}
		s.waitLine(fmt.Sprintf(`object="ConfigMap default/tcp" field=%d reason=Conflict text="another process listens on TCP port %d: `, port, port))
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		taken.Close()
		eventually(t, "the service whose port is free", func() bool { return once(port, "hello\n") == "db hello" })

		late := kit.Port(t)
		holder, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", late))
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close()
		s.write("tcp.yaml", streamMap("tcp", fmt.Sprint(first, " default/db:7000"), fmt.Sprint(late, " default/db:7000")))
		s.waitLine(fmt.Sprintf("another process listens on TCP port %d", late))
		eventually(t, "the service that was taken out to be gone", func() bool { return once(port, "hello\n") == "" })
		if got := once(first, "hello\n"); got != "db hello" {
			t.Errorf("the other service: got %q", got)
		}
	})
}

// TestServiceThatNginxRefuses is left out, and what else there is goes on; the
// Problem names its key.
func TestServiceThatNginxRefuses(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		good, bad, web := kit.Port(t), kit.Port(t), backend(t, "web")
		dir := templateDir(t)
		changeTemplate(t, dir, "stream.tmpl", "	proxy_protocol on;", "	proxy_protocol maybe;")
		manifests := oneHost(web)
		manifests["db.yaml"] = streamService("db", "TCP", lineBackend(t, "db"))
		manifests["tcp.yaml"], manifests["udp.yaml"] = streamMap("tcp", fmt.Sprint(good, " default/db:7000"), fmt.Sprint(bad, " default/db:7000::PROXY")), streamMap("udp")
		s := start(t, root, manifests, append([]string{"--template-dir", dir}, streamFlags...)...)
		s.waitBackend("http://a.example/", "web")
		if got := once(good, "hello\n"); got != "db hello" {
			t.Errorf("the other service: got %q", got)
		}
		s.waitLine(fmt.Sprintf(`object="ConfigMap default/tcp" field=%d reason=Refused text="nginx refuses it: the service is not served`, bad))
		s.write("tcp.yaml", streamMap("tcp", fmt.Sprint(good, " default/db:7000"), fmt.Sprint(bad, " default/db:7000")))
		eventually(t, "the service that was mended", func() bool { return once(bad, "hello\n") == "db hello" })
	})
}

// TestSettingsThatTheStreamLevelRefuses are rolled back.
func TestSettingsThatTheStreamLevelRefuses(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		port, web := kit.Port(t), backend(t, "web")
		manifests := oneHost(web)
		manifests["config.yaml"], manifests["db.yaml"] = settings(), streamService("db", "TCP", lineBackend(t, "db"))
		manifests["tcp.yaml"], manifests["udp.yaml"] = streamMap("tcp", fmt.Sprint(port, " default/db:7000")), streamMap("udp")
		s := start(t, root, manifests, append([]string{"--configmap", "default/config"}, streamFlags...)...)
		s.write("config.yaml", settings("stream-access-log-path: /var/log/no/such/folder/stream.log"))
		s.waitLine("nginx refuses these settings")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
		if got := once(port, "hello\n"); got != "db hello" {
			t.Errorf("got %q", got)
		}
	})
}
