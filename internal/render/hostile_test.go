package render

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// hostile are values that try to be more than one token.
var hostile = []string{
	"", " ", "a b", "a;", "a; return 200", "a} location / { return 200;", "}", "{", `"`, `\"`, `\\"`, `" ; alias /etc/ ; "`, "'", `'; alias /etc/; '`,
	"#", "# a", "a # b", "$", "$host", "${host}", "$(id)", `\`, `a\`, `\n`, "a\nb", "a\r\nb", "\x00", "\t", "\x7f", "\u0085", "\u2028", "\xff\xfe",
	"/x", "=/x", "~ .*", "~* .*", "^~", "@miss", "/../../etc", "/a;b{c}d\"e'f\\g$h#i", "http://evil.example/", strings.Repeat("a", 5000), strings.Repeat(`\`, 3000),
}

// shape lists the directives of a text and their nesting, without arguments.
func shape(text []byte) string {
	var out strings.Builder
	syntax.Directives(text, func(d syntax.Directive) { fmt.Fprintf(&out, "%d %s\n", d.Depth, d.Name) })
	return out.String()
}

// No string of the model can add or remove a directive. It is printed as one token, or its
// location returns 503 or is left out, with a Problem.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	source := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}
	for name, set := range map[string]func(*model.Server, *model.Location, string){
		"host":          func(s *model.Server, _ *model.Location, v string) { s.Host = v },
		"wildcard host": func(s *model.Server, _ *model.Location, v string) { s.Host = "*." + v },
		"modifier":      func(_ *model.Server, l *model.Location, v string) { l.Modifier = model.Modifier(v) },
		"path":          func(_ *model.Server, l *model.Location, v string) { l.Path = v },
		"longer path":   func(_ *model.Server, l *model.Location, v string) { l.Path = "/a" + v },
		"pattern":       func(_ *model.Server, l *model.Location, v string) { l.Modifier, l.Path = model.Pattern, v },
		"rewrite":       func(_ *model.Server, l *model.Location, v string) { l.Rewrite.Pattern = v },
		"target":        func(_ *model.Server, l *model.Location, v string) { l.Rewrite.Target = v },
		"backend":       func(_ *model.Server, l *model.Location, v string) { l.Proxy.Backend = v },
		"ingress":       func(_ *model.Server, l *model.Location, v string) { l.Rule.Object.Name = v },
		"TLS name":      func(_ *model.Server, l *model.Location, v string) { l.Proxy.Transport.Name = v },
		"authorities":   func(_ *model.Server, l *model.Location, v string) { l.Proxy.Transport.TrustedCA = v },
		"allowed": func(_ *model.Server, l *model.Location, v string) {
			l.Blocks[0].Data = struct{ Networks []string }{[]string{v}}
		},
		"behaviour name": func(_ *model.Server, l *model.Location, v string) { l.Blocks[0].Name = v },
	} {
		for _, value := range hostile {
			server, location := hostileServer(source)
			set(server, location, value)
			file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
			checkHostile(t, fmt.Sprintf("%s %.80q", name, value), file, problems)
		}
	}
}

func hostileServer(source model.ObjectRef) (*model.Server, *model.Location) {
	location := ingressLocation("web", model.PrefixFirst, "/a/")
	location.Rewrite = &model.Rewrite{Pattern: "/a/(.*)", Target: "/$1"}
	location.Proxy.Transport = model.Transport{TLS: true, Name: "a", TrustedCA: "a"}
	location.Blocks = []model.Block{{Name: "allow-list", Data: struct{ Networks []string }{[]string{"10.0.0.0/8"}}, Source: source}}
	return &model.Server{Host: "shop.example", Locations: []*model.Location{location}}, location
}

func checkHostile(t *testing.T, name string, file *File, problems []model.Problem) {
	t.Helper()
	text := file.Bytes()
	_, servers, found := strings.Cut(string(text), "\tserver_name _;\n")
	if !found || strings.Count(shape(text), "1 server\n") < 4 {
		t.Fatalf("%s: the file is not whole", name)
	}
	_, host, found := strings.Cut(servers, "\n}\nserver {")
	if !found {
		if len(problems) == 0 {
			t.Errorf("%s: the server is left out without a problem", name)
		}
		return
	}
	got := shape([]byte("server {" + host))
	body := "2 set\n2 allow\n2 deny\n2 rewrite\n2 break\n2 proxy_ssl_server_name\n2 proxy_ssl_name\n2 proxy_ssl_trusted_certificate\n2 proxy_pass\n"
	for line := range strings.Lines(got) {
		switch strings.TrimSpace(line[2:]) {
		case "server", "listen", "server_name", "if", "return", "error_page", "location":
		default:
			if !strings.Contains(body, line) {
				t.Errorf("%s: unexpected directive %s in\n%s", name, line, host)
			}
		}
	}
	if n := strings.Count(got, "1 location\n"); n > 2 || n == 2 && !strings.Contains(host, "@miss") {
		t.Errorf("%s: %d locations in\n%s", name, n, host)
	}
	if strings.Count(got, "2 allow\n") != strings.Count(got, "2 proxy_pass\n") && !strings.Contains(host, "@miss") {
		t.Errorf("%s: a location without its allow list:\n%s", name, host)
	}
	if !strings.Contains(got, "2 allow\n") && len(problems) == 0 {
		t.Errorf("%s: something is left out without a problem:\n%s", name, host)
	}
}
