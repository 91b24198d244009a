package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

func TestUnjoined(t *testing.T) {
	t.Parallel()
	joined := []byte("proxy_set_header Host \"$host\\r\\nX-A: $a\";\nproxy_set_header X-A \"\";\nproxy_set_header X-A own;\nadd_header X-A b;\nproxy_set_header Proxy \"\";\n")
	separate := []byte("proxy_set_header Host $host;\nproxy_set_header X-A $a;")
	want := "proxy_set_header Host $host;\nproxy_set_header X-A $a;\nproxy_set_header X-A own;\nadd_header X-A b;\nproxy_set_header Proxy \"\";\n"
	if diff := cmp.Diff(want, string(unjoined(joined, separate))); diff != "" {
		t.Error(diff)
	}
}

// A location with a header of its own repeats the joined ones, unless it, or its server, has one of
// them itself: a backend would get it twice.
func TestJoinedHeadersAreRepeated(t *testing.T) {
	t.Parallel()
	loaded, err := Load(withTemplate(t, "x.tmpl", `
{{ define "own/location" }}proxy_set_header X-Own 1;{{ end }}
{{ define "withheld/location" }}proxy_set_header ssl-client-verify 1;{{ end }}
{{ define "real/location" }}proxy_set_header x-real-ip 1;{{ end }}
{{ define "host/location" }}proxy_set_header Host a.example;{{ end }}
{{ define "scheme/server" }}proxy_set_header X-Scheme 1;{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		location, server string
		joined           bool
	}{{"own", "", true}, {"withheld", "", true}, {"real", "", false}, {"host", "", false}, {"own", "scheme", false}} {
		location := ingressLocation("web", model.PrefixFirst, "/a/")
		location.Blocks = []model.Block{{Name: c.location, Source: location.Rule.Object}}
		server := &model.Server{Host: "shop.example", Locations: []*model.Location{location}}
		if c.server != "" {
			server.Blocks = []model.Block{{Name: c.server, Source: location.Rule.Object}}
		}
		file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
		_, text, _ := strings.Cut(serverOf(t, file, "shop.example"), "location")
		joined, separate := strings.Contains(text, "$further_headers"), strings.Contains(text, "proxy_set_header X-Forwarded-For $remote_addr;")
		if joined != c.joined || separate == c.joined || len(problems) > 0 {
			t.Errorf("%+v: joined %v, separate %v, Problems %v\n%s", c, joined, separate, problems, text)
		}
	}
}

// A location with an error page of its own repeats those of its server for other statuses only: nginx
// takes the first one for a status.
func TestErrorPagesAreRepeatedByStatus(t *testing.T) {
	t.Parallel()
	loaded, err := Load(withTemplate(t, "x.tmpl", `
{{ define "pages/server" }}error_page 404 500 502 503 /sorry;{{ end }}
{{ define "quoted/server" }}error_page "404" '500' 502 "503" /sorry;{{ end }}
{{ define "own/location" }}error_page 429 '404' "503" /own;{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	location := ingressLocation("web", model.PrefixFirst, "/a/")
	location.Blocks = []model.Block{{Name: "own", Source: location.Rule.Object}}
	for _, of := range []string{"pages", "quoted"} {
		server := &model.Server{Host: "shop.example", Locations: []*model.Location{location}, Blocks: []model.Block{{Name: of, Source: location.Rule.Object}}}
		file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
		_, text, _ := strings.Cut(serverOf(t, file, "shop.example"), "location")
		if want := "\t\terror_page 500 /sorry;\n\t\terror_page 502 /sorry;\n\t\terror_page 429 '404' \"503\" /own;\n"; !strings.Contains(text, want) || strings.Count(text, "error_page") != 3 || len(problems) > 0 {
			t.Errorf("%s: want\n%s, got, with Problems %v\n%s", of, want, problems, text)
		}
	}
}
