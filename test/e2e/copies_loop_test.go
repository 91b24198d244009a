package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/test/kit"
)

// TestALoopOfCopiesEnds: where a Service and a mirror both lead back to nginx, each pass
// could double the requests. A copy and a question pass nginx once more, and not further.
func TestALoopOfCopiesEnds(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		own := kit.OwnAddress(t)
		if own == "" {
			t.Skip("this machine has no address but its loopback")
		}
		asked := make(chan string, 100)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			host, _, _ := strings.Cut(r.Host, ":")
			select {
			case asked <- host + r.URL.Path:
			default: // of the loops only the number counts
			}
			echo("web").ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		s := prepare(t, root, oneHost(web))
		s.write("loops.yaml", loops(own, s.HTTP))
		s.launch()
		s.waitBackend("http://a.example/", "web")
		// A question that is refused is a 500 of the request.
		for host, want := range map[string]int{"loop.example": http.StatusLoopDetected, "asking.example": http.StatusInternalServerError} {
			if a, err := s.get("http://" + host + "/" + host); err != nil || a.status != want {
				t.Errorf("%s: status %d, want %d: %v", host, a.status, want, err)
			}
			// The line of the request itself comes when all of its copies ended.
			eventually(t, "the lines of the client's request and its copy", func() bool { return len(ofLoopback(s.lines("/"+host))) >= 2 })
			lines := len(s.lines("/" + host))
			t.Logf("%s: %d lines of the access log", host, lines)
			if lines > 100 {
				t.Errorf("%s: %d lines of the access log for one request, want at most 100", host, lines)
			}
		}
		for _, host := range []string{"copied.example", "alias.example"} {
			s.wantAsked(asked, host, "copied.example/"+host, "shadow.example/"+host)
		}
		s.wantAsked(asked, "guarded.example", "guarded.example/guarded.example", own+"/question")
	})
}

// loops has hosts whose requests, copies or questions come back to nginx.
func loops(own string, port int) string {
	at := fmt.Sprintf("http://%s:%d", own, port)
	question := "auth-url: " + at + "/question"
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: back, namespace: default}\nspec:\n  type: ExternalName\n  externalName: %s\n  ports: [{name: http, port: 80, targetPort: %d}]\n", own, port) + "---" +
		ingress("loop", "loop.example", []string{"/ Prefix back"}, "mirror-target: "+at, "mirror-host: loop.example") + "---" +
		ingress("asking", "asking.example", []string{"/ Prefix back"}, "mirror-target: "+at, "mirror-host: asking.example", question) + "---" +
		ingress("question", "", []string{"/question Exact web"}) + "---" +
		ingress("copied", "copied.example", []string{"/ Prefix web"}, "mirror-target: "+at, "mirror-host: shadow.example") + "---" +
		ingress("shadow", "shadow.example", []string{"/ Prefix web"}) + "---" +
		ingress("alias", "alias.example", []string{"/ Prefix back"}, "upstream-vhost: copied.example") + "---" +
		ingress("guarded", "guarded.example", []string{"/ Prefix web"}, question)
}

func ofLoopback(lines []string) (found []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, "127.0.0.1 ") {
			found = append(found, line)
		}
	}
	return found
}

// wantAsked asks for a host and awaits each of the requests at the service, in any order.
func (s *sluice) wantAsked(asked chan string, host string, want ...string) {
	s.t.Helper()
	for len(asked) > 0 {
		<-asked
	}
	if a, err := s.get("http://" + host + "/" + host); err != nil || a.backend != "web" {
		s.t.Errorf("%s: status %d, want the answer of web: %v", host, a.status, err)
	}
	missing := map[string]bool{}
	for _, w := range want {
		missing[w] = true
	}
	eventually(s.t, fmt.Sprintf("the service to be asked for %q", want), func() bool {
		for len(asked) > 0 {
			delete(missing, <-asked)
		}
		return len(missing) == 0
	})
}
