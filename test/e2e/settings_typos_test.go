package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// typo is a setting with a valid value and one with a mistake.
type typo struct{ key, good, bad string }

var typos = []typo{
	{"whitelist-source-range", "127.0.0.0/8", "127.0.0.0/33"},
	{"block-cidrs", "203.0.113.0/24", "203.0.113.0/24; 198.51.100.7"},
	{"bind-address", "127.0.0.1", "eth0"},
	{"http-snippet", "map $arg_robot $is_robot { default 0; yes 1; }", "map $arg_robot $is_robot { default 0; yes 1;"},
}

// withTypos are settings with the mistakes of some keys, and a location with a status.
func withTypos(status int, wrong ...string) string {
	data := []string{fmt.Sprintf("server-snippet: 'location = /turn { return %d; }'", status)}
	for _, t := range typos {
		value := t.good
		if strings.Contains(strings.Join(wrong, " "), t.key) {
			value = t.bad
		}
		data = append(data, fmt.Sprintf("%s: '%s'", t.key, value))
	}
	return settings(data...)
}

// checked returns the answer to a health check.
func (s *sluice) checked(path string) (status int, body string) {
	s.t.Helper()
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", s.Healthz, path))
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// mustBeReady fails the test unless /readyz says so.
func (s *sluice) mustBeReady() {
	s.t.Helper()
	if status, body := s.checked("/readyz"); status != http.StatusOK {
		s.t.Errorf("/readyz: %d %s", status, body)
	}
}

// waitUnready waits until /readyz names a cause, while /healthz says that all is well.
func (s *sluice) waitUnready(cause string) {
	s.t.Helper()
	eventually(s.t, "/readyz to name "+cause, func() bool {
		status, body := s.checked("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, cause)
	})
	if status, body := s.checked("/healthz"); status != http.StatusOK {
		s.t.Errorf("/healthz: %d %s", status, body)
	}
}

// TestTyposInLiveSettings: a group of settings with a mistake keeps the last values that nginx
// confirmed. What is served stays, other settings follow, and the pod stays ready. That holds after
// a restart too.
func TestTyposInLiveSettings(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": withTypos(410),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://a.example/", "web")
		var all []string
		for i, typo := range typos {
			s.write("settings.yaml", withTypos(411+i, typo.key))
			s.waitStatus("http://a.example/turn", 411+i)
			s.waitBackend("http://a.example/", "web")
			s.waitLine("field=" + typo.key + " reason=InvalidValue")
			s.mustBeReady()
			all = append(all, typo.key)
		}
		s.write("settings.yaml", withTypos(420, all...))
		s.waitStatus("http://a.example/turn", 420)
		s.waitBackend("http://a.example/", "web")
		s.mustBeReady()

		s.stop()
		s.launch()
		s.waitReady()
		s.waitStatus("http://a.example/turn", 420)
		s.waitBackend("http://a.example/", "web")
		s.write("b.yaml", ingress("b", "b.example", []string{"/ Prefix web"}))
		s.waitBackend("http://b.example/", "web")
	})
}

// TestTyposInSettingsOfANewPod close paths, because nothing is known that would protect them. The
// pod is not ready until they are mended.
func TestTyposInSettingsOfANewPod(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		wrong := []string{"bind-address", "block-cidrs", "http-snippet", "whitelist-source-range"}
		s := prepare(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": withTypos(410, wrong...),
			"a.yaml": ingress("a", "a.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.launch()
		for len(wrong) > 0 { // each is mended once it is named
			s.waitUnready(wrong[0])
			s.waitStatus("http://a.example/", http.StatusServiceUnavailable)
			wrong = wrong[1:]
			s.write("settings.yaml", withTypos(410, wrong...))
		}
		s.waitReady()
		s.waitBackend("http://a.example/", "web")

		// A protection that never was there has no last value: its mistake closes, and the pod, which
		// was ready, stays so, also after a restart.
		s.write("settings.yaml", strings.Replace(withTypos(421), "\ndata: {", "\ndata: {global-auth-url: 'http://[', ", 1))
		s.waitStatus("http://a.example/", http.StatusServiceUnavailable)
		s.mustBeReady()
		s.stop()
		s.launch()
		s.waitReady()
		s.waitStatus("http://a.example/", http.StatusServiceUnavailable)
	})
}
