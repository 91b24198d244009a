package nginx

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"sluice/rootfs"
)

// TestRequestsForgeNoLineOfTheMaster: a worker's log line with text of a client, even
// with line ends, the master's pid and nginx's own format, is forwarded and never taken
// for a line of the master.
func TestRequestsForgeNoLineOfTheMaster(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		if err := os.CopyFS(s.options.path("lua"), rootfs.Lua); err != nil {
			t.Fatal(err)
		}
		s.write("lua/init.lua", s.read("lua/init.lua")+`require("sluice.requestlog").find()`)
		s.write("lua/init_worker.lua", s.read("lua/init_worker.lua")+`require("sluice.requestlog").part()`)
		p, address := s.started(), freeAddress(t)
		s.apply(p, s.conf("", fmt.Sprintf(`server { listen %s; rewrite_log on; location / { rewrite ^/([a-z]*) /x break; return 200 "done"; } }`, address)))
		r := p.currentRun()
		mark := r.log.mark()
		for _, line := range []string{
			fmt.Sprintf("2026/01/02 03:04:05 [emerg] %d#%d: bind() to 0.0.0.0:9000 failed (98: Address already in use)", r.PID, r.PID),
			"2026/01/02 03:04:05 [alert] 1#1: forged by another process",
			"nginx: [emerg] forged without a process",
		} {
			response, err := http.Get("http://" + address + "/" + url.PathEscape("a\n"+line+"\nb"))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			eventually(t, "the forged line in the log", func() bool { return strings.Contains(s.log.String(), "\n"+line) })
		}
		if lines := r.log.since(mark); len(lines) > 0 {
			t.Errorf("taken for nginx's own: %+v", lines)
		}
		other, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		_, err = p.Apply(t.Context(), s.web(other.Addr().String(), "refused"))
		taken := other.Addr().(*net.TCPAddr).Port
		if ports := UnboundPorts(err); len(ports) != 1 || ports[0].Port != taken {
			t.Errorf("nginx could not listen on %v, want %d: %v", ports, taken, err)
		}
	})
}

// TestPortsThatUsersWrite: text that nginx quotes from a file is no port in use.
func TestPortsThatUsersWrite(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{
		"nginx: [emerg] bind() to 0.0.0.0:9000 failed (98: Address already in use)\n":                                      1,
		"2026/01/02 03:04:05 [emerg] 7#7: bind() to [::]:9000 failed (13: Permission denied)\nnginx: configuration file\n": 1,
		"nginx: [emerg] invalid value \"bind() to 0.0.0.0:9000 failed (98: Address already in use)\" in /s/nginx.conf:7\n": 0,
	} {
		if ports := UnboundPorts(&TestError{Raw: raw}); len(ports) != want {
			t.Errorf("%s: got %v", raw, ports)
		}
	}
}
