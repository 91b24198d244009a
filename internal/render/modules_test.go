package render

import (
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// headers-more is loaded only if a snippet uses it. If nginx lacks it, such a snippet
// closes its location, and the Problem names the package to install.
func TestHeadersMore(t *testing.T) {
	t.Parallel()
	const module = "/modules/headers_more.so"
	with := testEnvironment()
	with.Modules, with.HeadersMoreModule, with.Capabilities.HeadersMore = []string{"/modules/lua.so"}, module, true
	within := "if ($arg_x) { more_clear_headers Server; }"
	tests := map[string]struct {
		env    Environment
		data   snippetData
		all    string
		loaded bool
		closed bool
	}{
		"of a location":     {env: with, data: snippetData{Location: "more_set_headers \"X-A: 1\";"}, loaded: true},
		"within a block":    {env: with, data: snippetData{Location: within}, loaded: true},
		"of a server":       {env: with, data: snippetData{Server: "more_set_input_headers \"X-A: 1\";"}, loaded: true},
		"of the http level": {env: with, all: "more_set_headers \"X-A: 1\";", loaded: true},
		"only a comment":    {env: with, data: snippetData{Location: "# more_set_headers \"X-A: 1\";\nset $more_x 1;"}},
		"only a value":      {env: with, data: snippetData{Location: "add_header X \"more_set_headers\";"}},
		"no snippet":        {env: with},
		"no module":         {env: testEnvironment(), data: snippetData{Location: within}, closed: true},
	}
	for name, test := range tests {
		file, problems := withSnippetsIn(t, test.env, test.data, test.all)
		text := string(file.Bytes())
		if got := strings.Count(text, "load_module "+module+";") == 1; got != test.loaded {
			t.Errorf("%s: loaded is %t, want %t:\n%s", name, got, test.loaded, text)
		}
		if !test.closed {
			if len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
			continue
		}
		if len(problems) != 1 || !problems[0].Denies || !strings.Contains(problems[0].Text, "install libnginx-mod-http-headers-more-filter") {
			t.Errorf("%s: %v", name, problems)
		}
		if !strings.Contains(text, "location ^~ \"/a/\" {\n\t\treturn 503;") {
			t.Errorf("%s: the location is not closed:\n%s", name, text)
		}
	}
}

// HTTP/3 needs an nginx with it, and TLS 1.3. Without one, a Problem names what is missing,
// and the file is that without the setting.
func TestHTTP3IsLeftOut(t *testing.T) {
	t.Parallel()
	able := testEnvironment()
	able.Capabilities.HTTP3 = true
	for name, test := range map[string]struct {
		env       Environment
		protocols []string
		problem   string
	}{
		"able":       {able, []string{"TLSv1.2", "TLSv1.3"}, ""},
		"no module":  {testEnvironment(), []string{"TLSv1.3"}, "--with-http_v3_module"},
		"no TLS 1.3": {able, []string{"TLSv1.2"}, "want TLSv1.3 in ssl-protocols"},
	} {
		s, _ := settings.Read(nil)
		s.TLS.Protocols = test.protocols
		without, _ := load(t).Render(model.Static{Blocks: s.Blocks()}, test.env, nil)
		s.HTTP3.Enabled = true
		file, problems := load(t).Render(model.Static{Blocks: s.Blocks()}, test.env, nil)
		text := string(file.Bytes())
		switch {
		case test.problem == "":
			if len(problems) > 0 || strings.Count(text, "quic default_server reuseport;") != 2 || strings.Contains(text, "proxy_protocol quic") {
				t.Errorf("%s: %v\n%s", name, problems, text)
			}
		case len(problems) != 1 || problems[0].Field != "use-http3" || !strings.Contains(problems[0].Text, test.problem):
			t.Errorf("%s: %v", name, problems)
		case text != string(without.Bytes()):
			t.Errorf("%s: the setting changes the file:\n%s", name, text)
		}
	}
}

// A host whose TLS is passed through is refused over QUIC, also with a cache.
func TestHTTP3OfPassedHosts(t *testing.T) {
	t.Parallel()
	env := testEnvironment()
	env.Capabilities.HTTP3, env.Capabilities.Stream, env.Capabilities.SSLPreread = true, true, true
	s, _ := settings.Read(nil)
	s.HTTP3.Enabled = true
	gone := &model.Return{Code: 410}
	host := &model.Server{Host: "a.example", Locations: []*model.Location{{Modifier: model.PrefixFirst, Path: "/", Rule: model.Rule{Path: "/", Kind: model.RuleWritten}, Return: gone}}}
	static, cache, set := model.Static{Blocks: s.Blocks(), Servers: []*model.Server{{}, host}, PassesThrough: true}, NewCache(), load(t)
	for _, passed := range [][]model.Passthrough{nil, {{Host: "a.example"}}, nil} {
		static.Passthroughs = passed
		file, _ := set.Render(static, env, cache)
		answers, refuses := 0, 0
		for block := range strings.SplitSeq(string(file.Bytes()), "\nserver {") {
			switch quic := strings.Contains(block, " quic;"); {
			case !quic || !strings.Contains(block, "server_name a.example;"):
			case strings.Contains(block, "ssl_reject_handshake on;"):
				refuses++
			default:
				answers++
			}
		}
		if answers != 1-len(passed) || refuses != len(passed) {
			t.Errorf("%d passed hosts: %d servers answer over QUIC, and %d refuse:\n%s", len(passed), answers, refuses, file.Bytes())
		}
	}
}

// An nginx without counters has no page for them.
func TestStatusWithoutCounters(t *testing.T) {
	t.Parallel()
	status := &model.Location{Modifier: model.Equal, Path: "/nginx_status", Rule: model.Rule{Path: "/nginx_status", Kind: model.RuleStatus}, Return: &model.Return{Code: 200, Statistics: true}}
	static := model.Static{Servers: []*model.Server{{Locations: []*model.Location{status}}}}
	for _, can := range []bool{true, false} {
		env := testEnvironment()
		env.Capabilities.StubStatus = can
		file, problems := load(t).Render(static, env, nil)
		text := string(file.Bytes())
		if len(problems) > 0 || strings.Contains(text, "stub_status;") != can || strings.Contains(text, "\t\treturn 404;") == can {
			t.Errorf("%t: %v\n%s", can, problems, text)
		}
	}
}
