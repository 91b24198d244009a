package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/syntax"
	"sluice/templates"
)

func load(t testing.TB) *Templates {
	t.Helper()
	loaded, err := Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func testEnvironment() Environment {
	return Environment{
		HTTPPort: 8080, HTTPSPort: 8443, StateDir: "/state", Lua: "/state/lua", Workers: 2, IPv6: true,
		Capabilities: Capabilities{HTTP2Directive: true},
	}
}

// ingressLocation is a location of the Ingress shop/<name>.
func ingressLocation(name string, modifier model.Modifier, path string) *model.Location {
	return &model.Location{
		Modifier: modifier, Path: path,
		Rule: model.Rule{
			Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: name},
			Field:  "spec.rules[0].http.paths[0]", Path: path, PathType: "Prefix", Kind: model.RuleWritten,
		},
		Proxy: &model.Proxy{Backend: "shop/web/80", Service: model.ServicePort{Namespace: "shop", Name: "web", Port: "80"}},
	}
}

func catchAll() *model.Server {
	return &model.Server{Locations: []*model.Location{
		{Modifier: model.Prefix, Path: "/", Rule: model.Rule{Kind: model.RuleFallback}, Return: &model.Return{Code: 404}},
	}}
}

// shopStatic has n hosts of three Prefix paths: seven locations each.
func shopStatic(n int) model.Static {
	s := model.Static{Servers: []*model.Server{catchAll()}}
	for i := range n {
		s.Servers = append(s.Servers, shopServer(i))
	}
	return s
}

func shopServer(i int) *model.Server {
	name := fmt.Sprintf("web-%05d", i)
	server := &model.Server{Host: fmt.Sprintf("shop-%05d.example.com", i), RedirectToHTTPS: &model.Redirect{Code: 308}}
	for _, path := range []string{"/api", "/static", "/checkout"} {
		server.Locations = append(server.Locations, ingressLocation(name, model.Equal, path), ingressLocation(name, model.PrefixFirst, path+"/"))
	}
	fallback := ingressLocation(name, model.Prefix, "/")
	fallback.Rule.Kind = model.RuleFallback
	server.Locations = append(server.Locations, fallback)
	return server
}

// serverOf returns the text of one host's server, without its listen lines.
func serverOf(t *testing.T, f *File, host string) string {
	t.Helper()
	for text := range strings.SplitSeq(string(f.Bytes()), "\nserver {\n") {
		if !strings.Contains(text, "\tserver_name "+host+";\n") {
			continue
		}
		var kept strings.Builder
		for line := range strings.Lines(strings.TrimSuffix(text, "}\n}\n")) {
			if !strings.HasPrefix(line, "\tlisten ") && line != "}\n" && line != "}" {
				kept.WriteString(line)
			}
		}
		return kept.String()
	}
	t.Fatalf("no server %s in\n%s", host, f.Bytes())
	return ""
}

// renderOne prints a server of shop.example with one location.
func renderOne(t *testing.T, change func(*model.Server, *model.Location)) (string, []model.Problem) {
	t.Helper()
	location := ingressLocation("web", model.PrefixFirst, "/a/")
	server := &model.Server{Host: "shop.example", Locations: []*model.Location{location}}
	change(server, location)
	host := server.Host
	file, problems := load(t).Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
	return serverOf(t, file, host), problems
}

func TestServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*model.Server, *model.Location)
		want   string
	}{
		{"a path", func(*model.Server, *model.Location) {}, `	server_name shop.example;
	location ^~ "/a/" {
		set $route shop/web/web/80;
		set $proxy_upstream_name shop-web-80;
		proxy_pass http://sluice_5;
	}
`},
		{"all locations redirect", func(s *model.Server, _ *model.Location) {
			s.RedirectToHTTPS = &model.Redirect{Code: 308}
		}, `	server_name shop.example;
	if ($redirect_to_https) { return 308 https://$redirect_host$redirect_uri; }
	location ^~ "/a/" {
		set $route shop/web/web/80;
		set $proxy_upstream_name shop-web-80;
		proxy_pass http://sluice_5;
	}
`},
		{"a pattern with redirect and rewrite", func(_ *model.Server, l *model.Location) {
			l.Modifier, l.Path = model.Pattern, `^/a(/|$)(.*)`
			l.RedirectToHTTPS = &model.Redirect{Code: 301, Port: 8443, KeepTrailingSlash: true}
			l.Rewrite = &model.Rewrite{Pattern: `(?i)/a(/|$)(.*)`, Target: "/$2"}
		}, `	server_name shop.example;
	location ~* "(*LIMIT_MATCH=20000)^/a(/|$)(?<p_2>.*)" {
		set $route shop/web/web/80;
		set $proxy_upstream_name shop-web-80;
		if ($redirect_to_https) { return 301 https://$redirect_host:8443$request_uri; }
		rewrite "(*NO_JIT)^" "/${p_2}";
		if ($has_dot_segments) { return 400; }
		break;
		proxy_pass http://sluice_5;
	}
`},
		{"no backend", func(_ *model.Server, l *model.Location) {
			l.Modifier, l.Proxy, l.Return = model.Prefix, nil, &model.Return{Code: 503}
		}, `	server_name shop.example;
	location "/a/" {
		return 503;
	}
`},
		{"the default backend", func(_ *model.Server, l *model.Location) {
			l.Rule = model.Rule{Kind: model.RuleFallback}
		}, `	server_name shop.example;
	location ^~ "/a/" {
		access_log off;
		set $route shop/-/web/80;
		set $proxy_upstream_name shop-web-80;
		proxy_pass http://sluice_5;
	}
`},
		{"a wildcard", func(s *model.Server, l *model.Location) {
			s.Host, s.Internal = "*.shop.example", []*model.Internal{model.MissOf(ingressLocation("other", "", ""))}
		}, `	server_name *.shop.example;
	if ($host !~ "^[^.]+\\.shop\\.example$") { return 418; }
	error_page 418 = @miss;
	location ^~ "/a/" {
		set $route shop/web/web/80;
		set $proxy_upstream_name shop-web-80;
		proxy_pass http://sluice_5;
	}
	location @miss {
		set $route shop/other/web/80;
		set $proxy_upstream_name shop-web-80;
		proxy_pass http://sluice_5;
	}
`},
	} {
		got, problems := renderOne(t, c.change)
		if diff := cmp.Diff(c.want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s: problems %v\n%s", c.name, problems, diff)
		}
	}
}

func TestWildcardWithoutMiss(t *testing.T) {
	t.Parallel()
	server := &model.Server{Host: "*.shop.example", Locations: []*model.Location{ingressLocation("web", model.PrefixFirst, "/a/")}}
	file, _ := load(t).Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
	got := string(file.Bytes())
	if !strings.Contains(got, `	server_name "~^[^.]+\\.shop\\.example$";`) || strings.Contains(got, "@miss") || strings.Contains(got, "$host !~") {
		t.Errorf("it takes other names:\n%s", got)
	}
}

// A file always has a server for unknown hosts, and blocks around everything.
func TestNothing(t *testing.T) {
	t.Parallel()
	file, problems := load(t).Render(model.Static{}, testEnvironment(), nil)
	if text := string(file.Bytes()); len(problems) > 0 || !strings.Contains(text, "default_server") || !strings.HasSuffix(text, "}\n}\n") {
		t.Errorf("problems %v in\n%s", problems, text)
	}
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	first, err := loaded.Bootstrap(testEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	second, _ := loaded.Render(model.Static{}, testEnvironment(), nil)
	var dicts [2][]string
	for i, f := range []*File{first, second} {
		syntax.Directives(f.Bytes(), func(d syntax.Directive) {
			if d.Name == "lua_shared_dict" {
				dicts[i] = append(dicts[i], string(f.Bytes()[d.Start:d.End]))
			}
		})
	}
	if diff := cmp.Diff(dicts[0], dicts[1]); diff != "" || len(dicts[0]) != 3 {
		t.Errorf("the sizes of dicts must never change:\n%s", diff)
	}
	if text := string(first.Bytes()); strings.Contains(text, "8080") || !strings.Contains(text, "control.sock") {
		t.Errorf("more or less than the control socket:\n%s", text)
	}
	bad := testEnvironment()
	bad.StateDir = "relative"
	if _, err := loaded.Bootstrap(bad); err == nil {
		t.Error("a relative state directory is taken")
	}
}

func TestListens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Environment)
		want   []string
	}{
		{"both families", func(*Environment) {}, []string{
			"listen 8080 default_server reuseport;", "listen [::]:8080 default_server reuseport;",
			"listen 8443 ssl default_server reuseport;", "listen [::]:8443 ssl default_server reuseport;",
		}},
		{"nginx before 1.25", func(e *Environment) { e.IPv6, e.Capabilities.HTTP2Directive = false, false }, []string{
			"listen 8080 default_server reuseport;", "listen 8443 ssl http2 default_server reuseport;",
		}},
		{"some addresses", func(e *Environment) { e.Addresses = []string{"127.0.0.1", "::1"} }, []string{
			"listen 127.0.0.1:8080 default_server reuseport;", "listen [::1]:8080 default_server reuseport;",
			"listen 127.0.0.1:8443 ssl default_server reuseport;", "listen [::1]:8443 ssl default_server reuseport;",
		}},
	} {
		e := testEnvironment()
		c.change(&e)
		file, _ := load(t).Render(model.Static{}, e, nil)
		var got []string
		for line := range strings.Lines(string(file.Bytes())) {
			if strings.Contains(line, "default_server") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
		if h2 := strings.Contains(string(file.Bytes()), "http2 on;"); h2 != e.Capabilities.HTTP2Directive {
			t.Errorf("%s: http2 as a directive: %t", c.name, h2)
		}
	}
}

// The file for 10,000 hosts of three Prefix paths is below 13 MB.
func TestCompact(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	few, _ := loaded.Render(shopStatic(10), testEnvironment(), nil)
	more, _ := loaded.Render(shopStatic(110), testEnvironment(), nil)
	perHost := (more.Len() - few.Len()) / 100
	t.Logf("%d bytes a host", perHost)
	if perHost > 1300 {
		t.Errorf("%d bytes a host, want at most 1300", perHost)
	}
}
