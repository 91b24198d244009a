package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// forAuth is an internal location for subrequests of two Ingresses.
func forAuth() *model.Internal {
	l := ingressLocation("a", model.Equal, model.InternalPrefix+"auth-1/shop/auth/80")
	l.Proxy.URI = "/check?from=$request_uri"
	return &model.Internal{Location: l, Owners: []model.ObjectRef{l.Rule.Object, {Kind: "Ingress", Namespace: "shop", Name: "b"}}}
}

// renderInternal returns the text of a server with one internal location.
func renderInternal(t *testing.T, loaded *Templates, internal *model.Internal) (string, []model.Problem) {
	t.Helper()
	server := &model.Server{Host: "shop.example", Internal: []*model.Internal{internal}}
	file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
	return serverOf(t, file, "shop.example"), problems
}

// inherited are the headers of the http level that a location for subrequests repeats,
// because it sets the header of the hops.
func inherited(text string) (others string, lines int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t\tproxy_set_header ") && !strings.Contains(line, " $subrequest_hops;") {
			lines++
			continue
		}
		others += line
	}
	return others, lines
}

// A subrequest sets no variable, its balancer reads the path, and it counts hops in another
// way.
func TestLocationForSubrequests(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	got, problems := renderInternal(t, loaded, forAuth())
	if !strings.Contains(got, "\t\tproxy_set_header Host $best_http_host;\n") || strings.Contains(got, " $hops;") {
		t.Errorf("want the headers of the http level but that of the hops:\n%s", got)
	}
	got, _ = inherited(got)
	want := `	server_name shop.example;
	location = "/.sluice/auth-1/shop/auth/80" {
		internal;
		proxy_ignore_headers X-Accel-Redirect;
		error_page 599 @none;
		proxy_set_header X-Hops-cd003210627290e9 $subrequest_hops;
		proxy_pass "http://sluice_uri_5/check?from=$request_uri";
	}
`
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("%v (-want +got):\n%s", problems, diff)
	}
	named := &model.Internal{Location: ingressLocation("a", model.Named, "sign-in")}
	got, problems = renderInternal(t, loaded, named)
	want = `	server_name shop.example;
	location @sign-in {
		set $route shop/a/web/80;
		set $proxy_upstream_name shop-web-80;
		proxy_pass http://sluice_5;
	}
`
	if diff := cmp.Diff(want, got); diff != "" || len(problems) > 0 {
		t.Errorf("%v (-want +got):\n%s", problems, diff)
	}
}

// An internal location that is not valid returns 503, and all its owners get a Problem.
func TestUnprintableInternalLocation(t *testing.T) {
	t.Parallel()
	loaded, err := Load(withTemplate(t, "x.tmpl", `{{ define "sets/location" }}set $sets_x {{ .A }};{{ end }}
{{ define "nested/location" }}if ($host) { set $nested_x {{ .A }}; }{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	data := struct{ A string }{"a"}
	closed := "\tserver_name shop.example;\n\tlocation = \"/.sluice/auth-1/shop/auth/80\" {\n\t\tinternal;\n\t\tproxy_ignore_headers X-Accel-Redirect;\n\t\terror_page 599 @none;\n\t\treturn 503;\n\t}\n"
	for name, change := range map[string]func(*model.Location){
		"a block that sets a variable":     func(l *model.Location) { l.Blocks = []model.Block{{Name: "sets", Data: data, Source: l.Rule.Object}} },
		"a block that sets one in a block": func(l *model.Location) { l.Blocks = []model.Block{{Name: "nested", Data: data, Source: l.Rule.Object}} },
		"a rewrite":                        func(l *model.Location) { l.Rewrite = &model.Rewrite{Pattern: "/", Target: "/x"} },
		"a redirect to HTTPS":              func(l *model.Location) { l.RedirectToHTTPS = &model.Redirect{Code: 308} },
		"a redirect":                       func(l *model.Location) { l.Proxy, l.Return = nil, &model.Return{Code: 302, URL: "https://a"} },
		"an unknown variable":              func(l *model.Location) { l.Proxy.URI = "/$nope" },
		"a line end":                       func(l *model.Location) { l.Proxy.URI = "/a\nb" },
	} {
		internal := forAuth()
		change(internal.Location)
		got, problems := renderInternal(t, loaded, internal)
		if diff := cmp.Diff(closed, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		seen := map[string]bool{}
		for _, p := range problems {
			seen[p.Object.Name] = p.Denies
		}
		if !cmp.Equal(seen, map[string]bool{"a": true, "b": true}) {
			t.Errorf("%s: problems %v", name, problems)
		}
	}
}

// No client reaches an internal location of any name.
func TestHostileInternalPath(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	for _, modifier := range []model.Modifier{model.Equal, model.Named, model.Prefix, model.Pattern, "@x"} {
		for _, value := range append(hostile, "/.sluice/", "/.sluice/a b", "/.sluicE/a", "miss", "a/b") {
			internal := forAuth()
			internal.Modifier, internal.Path = modifier, value
			got, problems := renderInternal(t, loaded, internal)
			fine := modifier == model.Named && value == "miss"
			if fine != (len(problems) == 0) || !fine && strings.Contains(got, "location") {
				t.Errorf("%s %.80q: %v\n%s", modifier, value, problems, got)
			}
		}
	}
	fine, _ := renderInternal(t, loaded, forAuth())
	_, headers := inherited(fine)
	for _, value := range hostile {
		internal := forAuth()
		internal.Proxy.URI = "/" + value
		got, problems := renderInternal(t, loaded, internal)
		body := "0 server_name\n0 location\n1 internal\n1 proxy_ignore_headers\n1 error_page\n1 %s\n"
		want := fmt.Sprintf(body, strings.Repeat("proxy_set_header\n1 ", headers+1)+"proxy_pass")
		if len(problems) > 0 {
			want = fmt.Sprintf(body, "return")
		}
		if diff := cmp.Diff(want, shape([]byte(got))); diff != "" {
			t.Errorf("%.80q: (-want +got):\n%s", value, diff)
		}
	}
}

// A span is recorded at the end of a subrequest, by our own file and no other.
func TestSubrequestsRunOnlyOurOwnFileAtTheirEnd(t *testing.T) {
	t.Parallel()
	for text, taken := range map[string]bool{
		"log_by_lua_file /state/lua/sluice/entry/log_trace.lua;": true,
		"log_by_lua_file /tmp/log_trace.lua;":                    false,
		"log_by_lua_block { }":                                   false,
		"access_by_lua_file /state/lua/sluice/entry/trace.lua;":  false,
	} {
		if err := setsNothing([]byte(text)); (err == nil) != taken {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// nginx leaves out a snippet of the server for subrequests, also one of the settings.
func TestSubrequestsSkipSnippetsOfServers(t *testing.T) {
	t.Parallel()
	values, _ := settings.Read(nil)
	own := *values
	own.ServersSnippet.Text = "return 204;"
	of := func(name string) []model.Block {
		return []model.Block{{Name: name, Data: struct{ Text string }{"return 204;"}, Source: forAuth().Rule.Object}}
	}
	snippet := of("server-snippet")
	loaded, err := Load(withTemplate(t, "own.tmpl", `{{ define "own-text/server" }}{{ .Text | raw }}{{ end }}
{{ define "own-answer/server" }}if ($arg_a) { return 204; }{{ end }}
{{ define "own-header/server" }}add_header a "return 204;";{{ end }}
{{ define "own-everywhere/every-server" }}{{ .Text | raw }}{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	const skipped = "\tif ($uri = \"/.sluice/auth-1/shop/auth/80\") { break; }\n"
	for name, c := range map[string]struct {
		settings []model.Block
		own      []model.Block
		skips    bool
	}{
		"none": {values.Blocks(), nil, false}, "of an Ingress": {values.Blocks(), snippet, true}, "of the settings": {own.Blocks(), nil, true},
		"of a template with text of users": {values.Blocks(), of("own-text"), true}, "of a template": {values.Blocks(), of("own-answer"), true}, "of a template without": {values.Blocks(), of("own-header"), false},
		"of all servers": {append(values.Blocks(), of("own-everywhere")...), nil, true},
	} {
		server := &model.Server{Host: "shop.example", Blocks: c.own, Internal: []*model.Internal{forAuth()}}
		file, problems := loaded.Render(model.Static{Blocks: c.settings, Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
		text := serverOf(t, file, "shop.example")
		if strings.Contains(text, skipped) != c.skips || strings.Contains(text, "break;") != c.skips || len(problems) > 0 {
			t.Errorf("%s: Problems %v\n%s", name, problems, text)
		}
	}
}
