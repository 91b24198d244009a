package debug

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/debugapi"
)

// liveOf compares a decision.
func liveOf(t *testing.T, o Options, target string, d debugapi.Decision) debugapi.Live {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var live debugapi.Live
	got := get(t, o, "/live?"+url.Values{"url": {target}, "decision": {string(text)}}.Encode())
	if err := json.Unmarshal([]byte(got), &live); err != nil {
		t.Fatal(err)
	}
	return live
}

// TestDecisionsAreCompared with the explanation of the same request.
func TestDecisionsAreCompared(t *testing.T) {
	t.Parallel()
	rewritten := strings.Replace(shopManifests, "server-alias: www.shop.example", `rewrite-target: "/to/$1", nginx.ingress.kubernetes.io/use-regex: "true"`, 1)
	rewritten = strings.Replace(rewritten, "path: /, pathType: Prefix, backend: {service: {name: web", "path: /(.*), pathType: ImplementationSpecific, backend: {service: {name: web", 1)
	o, patterns := optionsOf(stateOf(t, shopManifests)), optionsOf(stateOf(t, rewritten))
	right := debugapi.Decision{Host: "shop.example", Modifier: "=", Location: "/db", Object: "Ingress shop/web", Path: "/db", Backend: "shop/away/5432~ab", Endpoint: "x", URI: "/db", Status: 200}
	change := func(change func(*debugapi.Decision)) debugapi.Decision {
		d := right
		change(&d)
		return d
	}
	pattern := debugapi.Decision{Host: "shop.example", Modifier: "~*", Location: "^/(.*)", Object: "Ingress shop/web", Path: "/(.*)", Backend: "shop/web/http", URI: "/to/ä b?q", Status: 200}
	for name, test := range map[string]struct {
		of     Options
		target string
		given  debugapi.Decision
		want   []debugapi.Difference
		notes  int
	}{
		"the same":         {o, "https://shop.example/db", right, nil, 0},
		"another server":   {o, "https://shop.example/db", change(func(d *debugapi.Decision) { d.Host = "_" }), []debugapi.Difference{{Of: "server", Decided: "_", Computed: "shop.example"}}, 0},
		"another location": {o, "https://shop.example/db", change(func(d *debugapi.Decision) { d.Modifier, d.Location = "^~", "/" }), []debugapi.Difference{{Of: "location", Decided: "^~ /", Computed: "= /db"}}, 0},
		"another rule":     {o, "https://shop.example/db", change(func(d *debugapi.Decision) { d.Object, d.Path = "", "/x" }), []debugapi.Difference{{Of: "object", Computed: "Ingress shop/web"}, {Of: "path", Decided: "/x", Computed: "/db"}}, 0},
		"another backend":  {o, "https://shop.example/db", change(func(d *debugapi.Decision) { d.Backend = "shop/web/http" }), []debugapi.Difference{{Of: "backend", Decided: "shop-web-http", Computed: "shop-away-5432"}}, 0},
		"a canary":         {o, "https://shop.example/db", change(func(d *debugapi.Decision) { d.Canary = "shop-new-80" }), []debugapi.Difference{{Of: "backend", Decided: "shop-new-80", Computed: "shop-away-5432"}}, 0},
		"no backend":       {o, "https://shop.example/db", change(func(d *debugapi.Decision) { d.Backend = "" }), []debugapi.Difference{{Of: "backend", Computed: "shop/away:5432"}}, 0},
		"cut":              {o, "https://shop.example/db", change(func(d *debugapi.Decision) { d.Location, d.Path = "/d...", "/d..." }), nil, 0},
		"a redirect":       {o, "http://shop.example/db", debugapi.Decision{Host: "shop.example", Status: 308}, nil, 0},
		"another status":   {o, "http://shop.example/db", debugapi.Decision{Host: "shop.example", Status: 301}, []debugapi.Difference{{Of: "status", Decided: "301", Computed: "308"}}, 0},
		"nobody":           {o, "http://nobody.example/", debugapi.Decision{Host: "_", Location: "/", Status: 404}, nil, 0},
		"an error page": {o, "https://shop.example/db", change(func(d *debugapi.Decision) {
			d.Location, d.Backend, d.UpstreamStatus = "/.sluice/x", "shop/errors/_default", "404 : 404"
		}), nil, 1},
		"more labels":       {o, "http://nobody.example/", debugapi.Decision{Host: "*.example", Location: "/", Status: 404}, nil, 1},
		"rewritten":         {patterns, "https://shop.example/%C3%A4%20b?q", pattern, nil, 0},
		"rewritten to else": {patterns, "https://shop.example/c", pattern, []debugapi.Difference{{Of: "uri", Decided: "/to/ä b", Computed: "/to/c"}}, 0},
	} {
		live := liveOf(t, test.of, test.target, test.given)
		if test.want == nil {
			test.want = []debugapi.Difference{}
		}
		if diff := cmp.Diff(test.want, live.Differences); diff != "" || len(live.Notes) != test.notes {
			t.Errorf("%s: (-want +got)\n%s%q", name, diff, live.Notes)
		}
	}
}

// TestNginxIsAsked with the token of the Secret; it may tell nothing.
func TestNginxIsAsked(t *testing.T) {
	t.Parallel()
	var asked []string
	answer := `{"host":"shop.example","status":308}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host+r.RequestURI+" "+r.Header.Get(debugapi.DecisionHeader))
		if answer != "" {
			w.Header().Set(debugapi.DecisionHeader, answer)
		}
		w.WriteHeader(http.StatusPermanentRedirect)
	}))
	t.Cleanup(server.Close)
	manifests := strings.Replace(shopManifests, `no-such-key: "1"`, "debug-header-secret: sluice/debug, debug-header-cidrs: 127.0.0.1", 1) +
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: debug, namespace: sluice}\nstringData: {token: 0123456789abcdef}\n"
	state := stateOf(t, manifests)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	state.Confirmed.Environment.HTTPPort, _ = strconv.Atoi(port)
	o := optionsOf(state)
	if got := get(t, o, "/live?url=http://shop.example/a%2520b?q&method=HEAD"); !strings.Contains(got, `"differences": []`) || strings.Contains(got, "0123456789abcdef") {
		t.Errorf("it says %s", got)
	}
	if want := "HEAD shop.example/a%20b?q 0123456789abcdef"; len(asked) != 1 || asked[0] != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
	answer = ""
	for target, want := range map[string]string{
		"/live?url=http://shop.example/":                  "404 nginx answered with status 308 and told no decision: want 127.0.0.1, from which the controller asks, in debug-header-cidrs",
		"/live?url=http://shop.example/&method=POST":      `400 method: want GET, HEAD or OPTIONS, which change nothing (got "POST")`,
		"/live?url=http://shop.example/&decision=nothing": `400 decision: want the value of the header X-Sluice-Debug (got "nothing")`,
		"/live": `400 url: want http://host/path`,
	} {
		if status, text := ask(o, http.MethodGet, target); !strings.HasPrefix(strconv.Itoa(status)+" "+text, want) {
			t.Errorf("%s: %d %s", target, status, text)
		}
	}
	off := optionsOf(stateOf(t, shopManifests))
	if status, text := ask(off, http.MethodGet, "/live?url=http://shop.example/"); status != http.StatusNotFound || !strings.Contains(text, "debug-header-secret") {
		t.Errorf("without a token: %d %s", status, text)
	}
}
