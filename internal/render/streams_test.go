package render

import (
	"strings"
	"testing"

	"sluice/internal/model"
)

// TestStreamsWithoutTheModule: a stream that nginx cannot serve is left out, with a Problem
// that names the package to install.
func TestStreamsWithoutTheModule(t *testing.T) {
	t.Parallel()
	tcp, web := model.ObjectRef{Kind: "ConfigMap", Namespace: "sluice", Name: "tcp"}, model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}
	static := model.Static{
		Streams:       []model.Stream{{Protocol: model.TCP, Port: 9000, Source: tcp, Field: "9000", Endpoints: []model.Endpoint{{Address: "10.0.0.1", Port: 1}}}},
		PassesThrough: true, Passthroughs: []model.Passthrough{{Host: "a.example", Source: web, Field: "ssl-passthrough"}},
	}
	for name, test := range map[string]struct {
		can            Capabilities
		level, fronted bool
		problems       []string
	}{
		"no module":  {Capabilities{}, false, false, []string{"ConfigMap sluice/tcp: 9000: ", "Ingress shop/web: ssl-passthrough: "}},
		"no preread": {Capabilities{Stream: true}, true, false, []string{"Ingress shop/web: ssl-passthrough: "}},
		"everything": {Capabilities{Stream: true, SSLPreread: true, StreamRealIP: true}, true, true, nil},
	} {
		e := testEnvironment()
		e.Capabilities, e.StreamModule = test.can, "/modules/ngx_stream_module.so"
		file, problems := load(t).Render(static, e, nil)
		text := string(file.Bytes())
		if got := strings.Contains(text, "\nstream {"); got != test.level || strings.Contains(text, e.StreamModule) != test.level {
			t.Errorf("%s: there is a stream level: %t, want %t", name, got, test.level)
		}
		if got := strings.Contains(text, "https.sock"); got != test.fronted {
			t.Errorf("%s: HTTPS comes over the socket: %t, want %t", name, got, test.fronted)
		}
		if len(problems) != len(test.problems) {
			t.Errorf("%s: problems %v", name, problems)
			continue
		}
		for i, p := range problems {
			if !strings.HasPrefix(p.String(), test.problems[i]) || p.Reason != model.Unsupported || !strings.Contains(p.Text, "libnginx-mod-stream") {
				t.Errorf("%s: %s", name, p)
			}
		}
	}
}

// TestStreamsHaveTheirOrigin: the origin of a service is its ConfigMap, that of a host that
// is passed through its Ingress.
func TestStreamsHaveTheirOrigin(t *testing.T) {
	t.Parallel()
	tcp, web := model.ObjectRef{Kind: "ConfigMap", Namespace: "sluice", Name: "tcp"}, model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}
	static := model.Static{
		Streams:       []model.Stream{{Protocol: model.UDP, Port: 53, Source: tcp, Endpoints: []model.Endpoint{{Address: "2001:db8::1", Port: 1}}}},
		PassesThrough: true, Passthroughs: []model.Passthrough{{Host: "a.example", Source: web}, {Host: "bad;example", Source: web, Field: "f"}},
	}
	e := testEnvironment()
	e.Capabilities = Capabilities{Stream: true, SSLPreread: true}
	file, problems := load(t).Render(static, e, nil)
	if len(problems) != 1 || problems[0].Object != web || problems[0].Reason != model.Refused || strings.Contains(string(file.Bytes()), "bad") {
		t.Errorf("problems: %v", problems)
	}
	want := map[string]Origin{
		"[2001:db8::1]:1": {Object: tcp, Stream: "udp-53"}, "upstream passed-a.example": {Object: web, Behaviour: "ssl-passthrough", Host: "a.example"},
		`"a.example" passed-a.example;`: {Object: web, Behaviour: "ssl-passthrough", Host: "a.example"}, "proxy_pass $handed_to;": {},
	}
	for i, line := range strings.Split(string(file.Bytes()), "\n") {
		for text, origin := range want {
			if strings.Contains(line, text) {
				if got, _ := file.Origin(i + 1); got != origin {
					t.Errorf("%q is of %+v, want %+v", line, got, origin)
				}
				delete(want, text)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("these lines are missing: %v", want)
	}
}
