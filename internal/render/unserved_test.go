package render

import (
	"strings"
	"testing"

	"sluice/internal/model"
)

// A server of an unknown listener, and a second catch-all server, are left out, with a
// Problem for each owner of its paths. The others are printed as usual, with one catch-all
// server.
func TestServersThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	server := func(host, listener string) *model.Server {
		return &model.Server{Host: host, Listener: listener, Locations: []*model.Location{
			ingressLocation("web", model.PrefixFirst, "/a/"), ingressLocation("web", model.Equal, "/b"), ingressLocation("api", model.Equal, "/c"),
		}}
	}
	neighbour := server("neighbour.example", "")
	plain, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), neighbour}}, testEnvironment(), nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	unprintable := map[string]*model.Server{
		"a second catch-all":       server("", ""),
		"a catch-all of another":   server("", "other"),
		"a neighbour of another":   server("neighbour.example", "other"),
		"a wildcard of another":    server("*.shop.example", "8443"),
		"a pattern of another":     {Host: "shop.example", Listener: "other", Aliases: []string{"~^.*$"}, AliasesOnly: true, Locations: server("", "").Locations},
		"HTTP and HTTPS by a name": server("shop.example", "http"),
	}
	for _, value := range hostile {
		if value != "" {
			unprintable["listener "+value] = server("shop.example", value)
		}
	}
	for name, left := range unprintable {
		// The cache does not confuse servers.
		for _, cache := range []*Cache{nil, NewCache()} {
			for range 2 {
				file, problems := loaded.Render(model.Static{Servers: []*model.Server{catchAll(), neighbour, left}}, testEnvironment(), cache)
				if string(file.Bytes()) != string(plain.Bytes()) {
					t.Errorf("%.80q: the file is not as without the server:\n%s", name, file.Bytes())
				}
				if len(problems) != 2 || problems[0].Object.Name != "web" || problems[1].Object.Name != "api" {
					t.Errorf("%.80q: want a problem of each owner, got %v", name, problems)
				}
				for _, p := range problems {
					if !p.Denies || strings.ContainsFunc(p.Text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 }) {
						t.Errorf("%.80q: %+v", name, p)
					}
				}
			}
		}
	}
}

// The catch-all server of another listener does not replace that for unknown hosts.
func TestCatchAllOfAnotherListener(t *testing.T) {
	t.Parallel()
	other := catchAll()
	other.Listener = "other"
	for name, servers := range map[string][]*model.Server{"first": {other}, "second": {catchAll(), other}} {
		file, _ := load(t).Render(model.Static{Servers: servers}, testEnvironment(), nil)
		if n := strings.Count(string(file.Bytes()), "default_server"); n != strings.Count(string(mustRender(t, catchAll())), "default_server") {
			t.Errorf("%s: %d default servers", name, n)
		}
	}
}

func mustRender(t *testing.T, servers ...*model.Server) []byte {
	t.Helper()
	file, problems := load(t).Render(model.Static{Servers: servers}, testEnvironment(), nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return file.Bytes()
}
