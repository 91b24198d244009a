package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

// A location repeats the directives that it would no longer inherit, once, before all
// blocks. It does not repeat its own headers.
func TestHeadersAreRepeated(t *testing.T) {
	t.Parallel()
	loaded, err := Load(withTemplate(t, "x.tmpl", `
{{ define "x/location" }}add_header X-A {{ .A | str }};{{ end }}
{{ define "y/location" }}proxy_hide_header strict-transport-security; add_header X-B b;{{ end }}
{{ define "z/server" }}add_header X-Z z always;{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	location := ingressLocation("web", model.PrefixFirst, "/a/")
	block := func(name string) model.Block {
		return model.Block{Name: name, Data: struct{ A string }{"a"}, Source: location.Rule.Object}
	}
	location.Blocks = []model.Block{block("x"), block("y")}
	server := &model.Server{Host: "shop.example", Locations: []*model.Location{location}}
	with := *server
	with.Blocks = []model.Block{block("z")}
	hsts := "add_header Strict-Transport-Security $hsts always;"
	for _, c := range []struct {
		server *model.Server
		want   string
	}{
		{server, `	server_name shop.example;
	location ^~ "/a/" {
		set $route shop/web/web/80;
		set $proxy_upstream_name shop-web-80;
		` + hsts + `
		add_header X-A "a";
		proxy_hide_header strict-transport-security; add_header X-B b;
		proxy_pass http://sluice_5;
	}
`},
		{&with, `	server_name shop.example;
	` + hsts + `
	add_header X-Z z always;
	location ^~ "/a/" {
		set $route shop/web/web/80;
		set $proxy_upstream_name shop-web-80;
		` + hsts + `
		add_header X-Z z always;
		add_header X-A "a";
		proxy_hide_header strict-transport-security; add_header X-B b;
		proxy_pass http://sluice_5;
	}
`},
	} {
		file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), c.server}}, testEnvironment(), nil)
		if diff := cmp.Diff(c.want, serverOf(t, file, "shop.example")); diff != "" || len(problems) > 0 {
			t.Errorf("problems %v\n%s", problems, diff)
		}
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	outside := inheritables([]byte(`add_header A 1; add_header B 2; proxy_set_header Host $h; proxy_set_header X x; proxy_hide_header C;`))
	own := inheritables([]byte(`proxy_set_header HOST other; add_header D 3; if ($a) { proxy_hide_header E; }`))
	var got []string
	for _, s := range lost(outside, own) {
		got = append(got, s.text)
	}
	want := []string{"add_header A 1;", "add_header B 2;", "proxy_set_header X x;"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUpstreams(t *testing.T) {
	t.Parallel()
	static := shopStatic(1)
	locations := static.Servers[1].Locations
	verified := model.Transport{TLS: true, Verify: true, Name: "backend.example", TrustedCA: "PEM", VerifyDepth: 2}
	locations[0].Proxy.Transport = verified
	locations[1].Proxy.Transport = verified
	locations[2].Proxy.Transport = model.Transport{TLS: true}
	file, _ := load(t).Render(static, testEnvironment(), nil)
	text := string(file.Bytes())
	if got := strings.Count(text, "\nupstream "); got != 3 {
		t.Errorf("%d upstreams, want one for each of 3 transports", got)
	}
	name := upstream{Transport: verified, share: "5"}.name()
	for _, want := range []string{
		"upstream sluice_5 {\n\tserver 0.0.0.1;\n\tbalancer_by_lua_file /state/lua/sluice/entry/balancer.lua;\n\tkeepalive 256;\n",
		"upstream " + name + " {", "\t\tproxy_pass https://" + name + ";\n",
		"\t\tproxy_ssl_server_name on;\n\t\tproxy_ssl_name \"backend.example\";\n\t\tproxy_ssl_verify on;\n" +
			"\t\tproxy_ssl_trusted_certificate /state/trust/" + model.SHA256("PEM") + ".pem;\n\t\tproxy_ssl_verify_depth 2;\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %s", want)
		}
	}
	want := []TrustFile{{Path: "/state/trust/" + model.SHA256("PEM") + ".pem", PEM: "PEM"}}
	if diff := cmp.Diff(want, file.Trust()); diff != "" {
		t.Error(diff)
	}
}

// Two transports never share an upstream, whatever they differ in.
func TestUpstreamNames(t *testing.T) {
	t.Parallel()
	names := map[string]model.Transport{}
	for _, transport := range []model.Transport{
		{}, {TLS: true}, {TLS: true, Verify: true}, {TLS: true, Name: "a"}, {TLS: true, TrustedCA: "a"}, {TLS: true, VerifyDepth: 1},
		{TLS: true, Name: "a 1", VerifyDepth: 1}, {TLS: true, Name: `a" 1`},
	} {
		name := upstream{Transport: transport}.name()
		if other, taken := names[name]; taken {
			t.Errorf("%+v and %+v share %s", transport, other, name)
		}
		names[name] = transport
	}
}
