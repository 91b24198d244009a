package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/tokens"
)

// closedLocation replaces a location that cannot be printed.
const closedLocation = `	server_name shop.example;
	location ^~ "/a/" {
		return 503;
	}
`

func TestUnprintableLocation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*model.Server, *model.Location)
		text   string
		want   string
	}{
		{"a line end in a rewrite", func(_ *model.Server, l *model.Location) {
			l.Rewrite = &model.Rewrite{Pattern: "/", Target: "/x\ny"}
		}, `cannot be written to nginx.conf: want text without line ends and other control characters (got "/x\ny")`, closedLocation},
		{"an unknown variable", func(_ *model.Server, l *model.Location) {
			l.Rewrite = &model.Rewrite{Pattern: "/", Target: "/$nope"}
		}, `want text whose $ names a known variable`, closedLocation},
		{"a group that the path lacks", func(_ *model.Server, l *model.Location) {
			l.Rewrite = &model.Rewrite{Pattern: "/(?<p_a>.*)", Target: "/$p_a/$p_b"}
		}, `want a target that uses groups of the path only`, closedLocation},
		{"a name of a backend", func(_ *model.Server, l *model.Location) {
			l.Proxy.Backend = "shop/web/80; return 200"
		}, `want one word`, closedLocation},
		{"a TLS name", func(_ *model.Server, l *model.Location) {
			l.Proxy.Transport = model.Transport{TLS: true, Name: "$host"}
		}, `want text without $`, closedLocation},
		{"neither backend nor status", func(_ *model.Server, l *model.Location) {
			l.Proxy = nil
		}, `want exactly one of a backend, a status and a dispatch`, closedLocation},
		{"a behaviour without a template", func(_ *model.Server, l *model.Location) {
			l.Blocks = []model.Block{{Name: "guard-dog", Source: l.Rule.Object}}
		}, `guard-dog: cannot be written to nginx.conf: want a behaviour that has a template`, closedLocation},
		{"a behaviour with data of another type", func(_ *model.Server, l *model.Location) {
			l.Blocks = []model.Block{{Name: "allow-list", Data: struct{ Other string }{}, Source: l.Rule.Object}}
		}, `allow-list: template cannot be executed`, closedLocation},
		{"a value of a behaviour", func(_ *model.Server, l *model.Location) {
			l.Blocks = []model.Block{{Name: "allow-list", Data: struct{ Networks []string }{[]string{"all;"}}, Source: l.Rule.Object}}
		}, `allow-list: cannot be written to nginx.conf: want one word`, closedLocation},
		{"a behaviour of the server", func(s *model.Server, l *model.Location) {
			s.Blocks = []model.Block{{Name: "guard-dog", Source: l.Rule.Object}}
		}, `host "shop.example": guard-dog: cannot`, strings.ReplaceAll(closedLocation, "/a/", "/")},
	} {
		got, problems := renderOne(t, c.change)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
		owner := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}
		if len(problems) != 1 || problems[0].Object != owner || !strings.Contains(problems[0].Text, c.text) || !problems[0].Denies || problems[0].Reason != model.Refused {
			t.Errorf("%s: problems %+v\nwant %s", c.name, problems, c.text)
		}
	}
}

// A location whose match cannot be printed is left out, and no other one.
func TestUnprintableMatch(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/a\nb", "/\xff", "=/a", "~ .*", "@miss", "", "/" + strings.Repeat("a", 4000)} {
		got, problems := renderOne(t, func(s *model.Server, l *model.Location) {
			l.Path = path
			s.Locations = append(s.Locations, ingressLocation("other", model.Equal, "/b"))
		})
		want := "\tserver_name shop.example;\n\tlocation = \"/b\" {\n\t\tset $route shop/other/web/80;\n\t\tset $proxy_upstream_name shop-web-80;\n\t\tproxy_pass http://sluice_5;\n\t}\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", path, diff)
		}
		if len(problems) != 1 || problems[0].Object.Name != "web" || !strings.HasSuffix(problems[0].Text, "; the path is left out") || problems[0].Denies {
			t.Errorf("%q: problems %+v", path, problems)
		}
	}
}

// If the match of a protecting location cannot be printed, the server is closed, because
// no other location may get its requests.
func TestUnprintableMatchThatProtects(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/a\nb", "/\xff", "/" + strings.Repeat("a", 4000)} {
		got, problems := renderOne(t, func(s *model.Server, l *model.Location) {
			l.Path, l.Rule.Protects = path, true
			s.Locations = append(s.Locations, ingressLocation("other", model.PrefixFirst, "/"))
		})
		want := "\tserver_name shop.example;\n\tlocation ^~ \"/\" {\n\t\treturn 503;\n\t}\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", path, diff)
		}
		if len(problems) != 2 || !problems[0].Denies || !problems[1].Denies {
			t.Errorf("%q: problems %+v", path, problems)
		}
	}
}

// A host that is not a DNS name is left out, with a Problem for each owner of its paths.
func TestUnprintableHost(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	without, _ := loaded.Render(model.Static{Servers: []*model.Server{catchAll()}}, testEnvironment(), nil)
	for _, host := range []string{"~.*", "a b", ".example", "a;", "A.example", "*.*.example"} {
		server := &model.Server{Host: host, Locations: []*model.Location{ingressLocation("one", model.Equal, "/"), ingressLocation("two", model.Equal, "/x")}}
		file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
		if len(problems) != 2 || !strings.HasPrefix(problems[0].Text, "host ") {
			t.Errorf("%s: problems %v", host, problems)
		}
		if !file.Equal(without) {
			t.Errorf("%s: is in the file", host)
		}
	}
}

// The structure check finds a value that a printer accepts by mistake.
func TestInjectionThroughATemplate(t *testing.T) {
	t.Parallel()
	loaded, err := Load(withTemplate(t, "x.tmpl", `{{ define "x/location" }}allow {{ .A }};{{ end }}{{ define "x/shared" }}map $a $x_b { {{ .A | mapkey }} 1; }{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"location": `all; alias /etc/`, "closing": `all; } location "/b" { return 200`, "quote": `"all`, "block": `all; if ($a) { return 503; }`,
	} {
		broken := func(value any) (string, error) {
			if value == "evil" {
				return text, nil
			}
			return tokens.OfText(tokens.PrintWord)(value)
		}
		loaded.behaviours["x"].contexts["location"].Funcs(map[string]any{"word": broken})
		location := ingressLocation("web", model.PrefixFirst, "/a/")
		location.Blocks = []model.Block{{Name: "x", Data: struct{ A string }{"evil"}, Source: location.Rule.Object}}
		server := &model.Server{Host: "shop.example", Locations: []*model.Location{location}}
		file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
		if diff := cmp.Diff(closedLocation, serverOf(t, file, "shop.example")); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if len(problems) != 1 || !strings.Contains(problems[0].Text, "would change the structure of nginx.conf") {
			t.Errorf("%s: problems %v", name, problems)
		}
	}
}

// The same for shared text.
func TestInjectionThroughASharedTemplate(t *testing.T) {
	t.Parallel()
	loaded, err := Load(withTemplate(t, "x.tmpl", `{{ define "x/shared" }}map $a $x_b { {{ .A | mapkey }} 1; }{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	broken := func(any) (string, error) { return `a 1; } include /etc/passwd; map $a $c { b`, nil }
	loaded.behaviours["x"].contexts["shared"].Funcs(map[string]any{"mapkey": broken})
	location := ingressLocation("web", model.PrefixFirst, "/a/")
	location.Blocks = []model.Block{{Name: "x", Data: struct{ A string }{"a"}, Source: location.Rule.Object}}
	server := &model.Server{Host: "shop.example", Locations: []*model.Location{location}}
	file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
	if diff := cmp.Diff(closedLocation, serverOf(t, file, "shop.example")); diff != "" || strings.Contains(string(file.Bytes()), "passwd") {
		t.Error(diff)
	}
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Text, `x: would change the structure of nginx.conf: no template writes the directive "include"`) {
		t.Errorf("problems %v", problems)
	}
}

// A setting that cannot be printed keeps its default, and the file is complete.
func TestUnprintableSetting(t *testing.T) {
	t.Parallel()
	values, _ := settings.Read(nil)
	values.LogFormat.Format = "$remote_addr $the_real_ip"
	values.TLS.ECDHCurve = "auto\n"
	loaded := load(t)
	file, problems := loaded.Render(model.Static{Blocks: values.Blocks()}, testEnvironment(), nil)
	plain, _ := loaded.Render(model.Static{}, testEnvironment(), nil)
	if !file.Equal(plain) {
		t.Errorf("not the defaults:\n%s", cmp.Diff(string(plain.Bytes()), string(file.Bytes())))
	}
	if len(problems) != 2 || problems[0].Text != `log-format-upstream: cannot be written to nginx.conf: want text whose $ names a known variable, such as $host (got "$the_real_ip"); the default is used` {
		t.Errorf("problems %v", problems)
	}
}

// An environment that cannot be printed is a problem and not a panic.
func TestUnprintableEnvironment(t *testing.T) {
	t.Parallel()
	e := testEnvironment()
	e.StateDir = "/state\n"
	_, problems := load(t).Render(shopStatic(1), e, nil)
	if len(problems) == 0 || problems[0].Object.Kind != "Template" {
		t.Errorf("problems %v", problems)
	}
}
