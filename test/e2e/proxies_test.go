package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/test/kit"
)

// TestProxyProtocolIsTurnedOnAndOff: a reload is enough, and each connection is
// read as the settings of the time say.
func TestProxyProtocolIsTurnedOnAndOff(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := headersBackend(t)
		manifests := oneHost(web)
		manifests["config.yaml"] = settings()
		s := start(t, root, manifests, "--configmap", "default/config")
		const client = "PROXY TCP4 203.0.113.20 192.0.2.1 4444 80\r\n"
		if said := s.say("", ""); !strings.Contains(said, "X-Real-Ip: 127.0.0.1\n") {
			t.Fatalf("without a PROXY header: %q", said)
		}

		s.write("config.yaml", settings(`use-proxy-protocol: "true"`))
		eventually(t, "the client to be whom the PROXY header names", func() bool {
			return strings.Contains(s.say(client, ""), "X-Real-Ip: 203.0.113.20\n")
		})
		eventually(t, "connections without a PROXY header not to be answered", func() bool { return s.say("", "") == "" })

		s.write("config.yaml", settings(`use-proxy-protocol: "true"`, `use-forwarded-headers: "true"`, `proxy-real-ip-cidr: "127.0.0.1,203.0.113.0/24"`))
		eventually(t, "the client to be whom a proxy in front names", func() bool {
			return strings.Contains(s.say(client, "X-Forwarded-For: 198.51.100.9\r\n"), "X-Real-Ip: 198.51.100.9\n")
		})
		s.noSpoofing()

		s.write("config.yaml", settings())
		eventually(t, "connections without a PROXY header to be answered again", func() bool {
			return strings.Contains(s.say("", ""), "X-Real-Ip: 127.0.0.1\n")
		})
	})
}

// noSpoofing: the name that the address is passed on by is of one start only, and
// no backend is told it.
func (s *sluice) noSpoofing() {
	s.t.Helper()
	conf, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
	if err != nil {
		s.t.Fatal(err)
	}
	name := regexp.MustCompile(`real_ip_header (X-Real-Ip-[A-Z0-9]{20,});`).FindSubmatch(conf)
	if name == nil {
		s.t.Fatal("the address is not passed on by a name made at this start")
	}
	said := s.say("PROXY TCP4 203.0.113.20 192.0.2.1 4444 80\r\n", "X-Forwarded-For: 198.51.100.9\r\n")
	if strings.Contains(strings.ToLower(said), strings.ToLower(string(name[1]))) {
		s.t.Errorf("the backend is told the name: %q", said)
	}
}

// headersBackend answers with the headers that it got.
func headersBackend(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			fmt.Fprintf(w, "%s: %s\n", name, strings.Join(values, ", "))
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// say sends text and a request for a.example on one connection, and gives the body
// of the answer; "" if there is none.
func (s *sluice) say(before, headers string) string {
	s.t.Helper()
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTP))
	if err != nil {
		s.t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(connection, "%sGET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n%s\r\n", before, headers)
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body) // what is cut off is not what is looked for
	return string(body)
}
