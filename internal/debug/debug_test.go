package debug

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/debugapi"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

var update = flag.Bool("update", false, "write the expectations anew")

// Each view answers what is written down, and what is JSON is null nowhere.
func TestViews(t *testing.T) {
	t.Parallel()
	state := stateOf(t, shopManifests)
	o, hash := optionsOf(state), state.Confirmed.File.Hash()
	for name, target := range map[string]string{
		"backends":         "/backends",
		"backends-name":    "/backends?name=shop-web-http",
		"certs":            "/certs",
		"certs-wildcard":   "/certs?host=Any.wild.example.",
		"certs-default":    "/certs?host=a.b.wild.example",
		"general":          "/general",
		"routes":           "/routes",
		"routes-host":      "/routes?host=www.shop.example",
		"routes-catch-all": "/routes?host=*",
		"routes-ingress":   "/routes?ingress=wild/all",
		"explain":          "/explain?url=https://shop.example/db",
		"explain-json":     "/explain?url=shop.example/db&method=POST&format=json",
		"problems":         "/problems",
		"problems-ingress": "/problems?ingress=shop/web",
		"problems-space":   "/problems?namespace=wild",
		"reloads":          "/reloads",
		"traffic":          "/traffic",
		"traffic-space":    "/traffic?namespace=shop",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.ReplaceAll(get(t, o, target), hash, "(the hash of nginx.conf)")
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", target, diff)
			}
			if strings.Contains(got, ": null") && !strings.HasPrefix(name, "explain") {
				t.Errorf("%s holds null:\n%s", target, got)
			}
		})
	}
}

// Without anything to show, lists are empty and objects null only where the
// contract says so.
func TestNothingToShow(t *testing.T) {
	t.Parallel()
	state := stateOf(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
	state.Problems, state.Last = nil, nil
	o := optionsOf(state)
	o.Leader = nil
	if got := get(t, o, "/problems"); got != "[]\n" {
		t.Errorf("problems: %s", got)
	}
	if got := get(t, o, "/backends"); got != "[]\n" {
		t.Errorf("backends: %s", got)
	}
	var g map[string]any
	if err := json.Unmarshal([]byte(get(t, o, "/general")), &g); err != nil {
		t.Fatal(err)
	}
	for name, value := range g {
		if value == nil != (name == "leader" || name == "lastApply") {
			t.Errorf("general: %s is %v", name, value)
		}
	}
}

// nginx.conf is told byte by byte, and as JSON line by line with who wrote it.
func TestConf(t *testing.T) {
	t.Parallel()
	state := stateOf(t, shopManifests)
	o, file := optionsOf(state), state.Confirmed.File
	if got := get(t, o, "/conf"); got != string(file.Bytes()) {
		t.Error("it is not nginx.conf")
	}
	var all debugapi.Conf
	if err := json.Unmarshal([]byte(get(t, o, "/conf?format=json")), &all); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i, line := range all.Lines {
		text.WriteString(line.Text + "\n")
		origin, _ := file.Origin(line.Number)
		if line.Number != i+1 || line.Object != origin.Object || line.Behaviour != origin.Behaviour || line.Host != origin.Host {
			t.Errorf("line %d is %+v, want the origin %+v", i+1, line, origin)
		}
	}
	if text.String() != string(file.Bytes()) || all.Hash != file.Hash() || all.Total != len(all.Lines) {
		t.Errorf("%d lines of %s do not make nginx.conf", all.Total, all.Hash)
	}
}

// Lines are selected by host, alias and Ingress.
func TestConfSelected(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	for target, want := range map[string]struct{ has, lacks string }{
		"/conf?host=shop.example":                      {"server_name shop.example", "wild.example"},
		"/conf?host=www.shop.example":                  {"server_name shop.example", "wild.example"},
		"/conf?host=*.wild.example":                    {"wild/all", "shop.example"},
		"/conf?host=*":                                 {"default_server", "shop.example"},
		"/conf?ingress=wild/all":                       {`location ^~ "/a/"`, "shop"},
		"/conf?ingress=shop/web&host=www.shop.example": {`location = "/db"`, "server_name shop.example"},
	} {
		got := get(t, o, target)
		if !strings.Contains(got, want.has) || strings.Contains(got, want.lacks) || strings.Contains(got, "http {") {
			t.Errorf("%s: want %s and not %s:\n%s", target, want.has, want.lacks, got)
		}
		var selected debugapi.Conf
		if err := json.Unmarshal([]byte(get(t, o, target+"&format=json")), &selected); err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(got, "\n"), func(l string) bool { return l == "" })
		for i, line := range slices.DeleteFunc(selected.Lines, func(l debugapi.Line) bool { return l.Text == "" }) {
			if i >= len(lines) || line.Text != lines[i] {
				t.Fatalf("%s: line %d differs as JSON: %+v", target, i, line)
			}
		}
	}
}

// What cannot be answered is said in one line that names what is wrong.
func TestRefusals(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	for target, want := range map[string]struct {
		status int
		text   string
	}{
		"/nothing":                         {404, `"/nothing": there is no such view: want /conf, /backends, /certs, /general, /routes, /explain, /live, /problems, /reloads, /traffic or /diff`},
		"/general?host=a":                  {400, `"host": /general takes no parameter (got "a")`},
		"/conf?hots=a":                     {400, `"hots": /conf has no such parameter: want host, ingress, format, search, offset or limit (got "a")`},
		"/conf?host=a&host=b":              {400, `host: want it once (got "a" and "b")`},
		"/conf?format=yaml":                {400, `format: want text or json (got "yaml")`},
		"/conf?host=a%20b":                 {400, `host: want a host such as shop.example or *.shop.example, without a port (got "a b")`},
		"/conf?host=shop.example:80":       {400, `host: want a host such as shop.example or *.shop.example, without a port (got "shop.example:80")`},
		"/conf?ingress=web":                {400, `ingress: want namespace/name (got "web")`},
		"/conf?ingress=a/b/c":              {400, `ingress: want namespace/name (got "a/b/c")`},
		"/conf?host=%zz":                   {400, `/conf: want a query such as ?host=shop.example, percent-encoded (got "host=%zz"): invalid URL escape "%zz"`},
		"/conf?host=other.example":         {404, `host: no server has the host or the alias "other.example"`},
		"/conf?host=a.wild.example":        {404, `host: no server has the host or the alias "a.wild.example"; its requests go to that of *.wild.example`},
		"/routes?host=other.example":       {404, `host: no server has the host or the alias "other.example"`},
		"/conf?ingress=a/b":                {404, `ingress: there is no Ingress a/b in the watched namespaces`},
		"/routes?ingress=a/b":              {404, `ingress: there is no Ingress a/b in the watched namespaces`},
		"/problems?ingress=a/b":            {404, `ingress: there is no Ingress a/b in the watched namespaces`},
		"/conf?ingress=shop/web&host=*":    {404, `ingress: Ingress shop/web has no line in the server of "*"`},
		"/backends?name=x":                 {404, `name: no backend has the name or the key "x": want a key such as shop/web/80, or ingress-nginx's name of it, shop-web-80`},
		"/explain":                         {400, `url: want http://host/path, https://host/path or host/path (got "")`},
		"/explain?url=ftp://a/":            {400, `url: want http://host/path, https://host/path or host/path (got "ftp://a/")`},
		"/explain?url=a/&method=get":       {400, `method: want it in capitals, such as GET (got "get")`},
		"/problems?namespace=A":            {400, `namespace: want the name of a namespace (got "A")`},
		"/problems?namespace=%1b%5b31m%0a": {400, `namespace: want the name of a namespace (got "\x1b[31m\n")`},
	} {
		status, text := ask(o, http.MethodGet, target)
		if status != want.status || text != want.text+"\n" {
			t.Errorf("%s: %d %swant %d %s", target, status, text, want.status, want.text)
		}
	}
	if status, text := ask(o, http.MethodPost, "/conf"); status != http.StatusMethodNotAllowed || text != "/conf: want the method GET (got \"POST\")\n" {
		t.Errorf("POST: %d %s", status, text)
	}
}

// TestTrafficIsNotCounted: where metrics are off, that is said with how to turn them on.
func TestTrafficIsNotCounted(t *testing.T) {
	t.Parallel()
	o := optionsOf(stateOf(t, shopManifests))
	o.Traffic = nil
	const want = "/traffic: requests are not counted: want --enable-metrics of the controller, which is controller.metrics.enabled of the chart\n"
	if status, text := ask(o, http.MethodGet, "/traffic"); status != http.StatusNotFound || text != want {
		t.Errorf("%d %s", status, text)
	}
}

// Before anything is confirmed, what is wrong and what is missing can be asked for.
func TestBeforeTheFirstConfirmation(t *testing.T) {
	t.Parallel()
	state := stateOf(t, shopManifests)
	state.Confirmed, state.Last = nil, nil
	for _, published := range []*State{nil, state} {
		o := optionsOf(published)
		o.Ready = func() error { return errNothing }
		o.Status = func(context.Context) (nginx.Status, error) { return nginx.Status{}, errors.New("it is\nnot there") }
		for _, p := range pages {
			method := http.MethodGet
			if p.method != "" {
				method = p.method
			}
			status, text := ask(o, method, p.path)
			ready := p.early && (published != nil || p.path == debugapi.GeneralPath)
			switch {
			case ready && status != http.StatusOK:
				t.Errorf("%s: %d %s", p.path, status, text)
			case !ready && (status != http.StatusServiceUnavailable || !strings.Contains(text, errNothing.Error())):
				t.Errorf("%s: %d %s", p.path, status, text)
			}
		}
		var g debugapi.General
		if err := json.Unmarshal([]byte(get(t, o, "/general")), &g); err != nil {
			t.Fatal(err)
		}
		if g.Ready || g.Missing != errNothing.Error() || g.Nginx.Answers || g.Nginx.Error != "it is; not there" || g.LastApply != nil || g.ConfHash != "" {
			t.Errorf("general says %+v", g)
		}
	}
}

// The default certificate can be that of a Secret, which hosts may have too.
func TestDefaultCertificateOfASecret(t *testing.T) {
	t.Parallel()
	state := stateOf(t, shopManifests, func(o *translate.Options) {
		o.DefaultCertificate = snapshot.Name{Namespace: "shop", Name: "web"}
	})
	var found []debugapi.Certificate
	if err := json.Unmarshal([]byte(get(t, optionsOf(state), "/certs?host=nobody.example")), &found); err != nil {
		t.Fatal(err)
	}
	want := []model.ObjectRef{{Kind: "Secret", Namespace: "shop", Name: "web"}}
	if len(found) != 1 || !found[0].Default || found[0].From != debugapi.FromSecret || !slices.Equal(found[0].Secrets, want) || !slices.Equal(found[0].Hosts, []string{"shop.example"}) {
		t.Errorf("it is told as %+v", found)
	}
}

// Where nginx presents no certificate, that is said and why.
func TestNoCertificateIsPresented(t *testing.T) {
	t.Parallel()
	manifests := strings.Replace(shopManifests, `no-such-key: "1"`, `ssl-reject-handshake: "true"`, 1)
	manifests = strings.Replace(manifests, "{nginx.ingress.kubernetes.io/proxy-read-timeout: soon}", `{nginx.ingress.kubernetes.io/ssl-passthrough: "true"}`, 1)
	manifests = strings.Replace(manifests, "path: /a, pathType: Prefix, backend: {service: {name: none", "path: /, pathType: Prefix, backend: {service: {name: web", 1)
	manifests = strings.Replace(manifests, "namespace: wild\n", "namespace: shop\n", 1)
	o := optionsOf(stateOf(t, manifests, func(o *translate.Options) { o.Passthrough = true }))
	for host, want := range map[string]string{
		"a.wild.example": `host: the TLS of "a.wild.example" is passed through to Service shop/web, as Ingress shop/all asks for: no certificate of nginx is presented`,
		"nobody.example": `host: no rule has the host "nobody.example", and the setting ssl-reject-handshake is on: no certificate is presented`,
	} {
		if status, text := ask(o, http.MethodGet, "/certs?host="+host); status != http.StatusNotFound || text != want+"\n" {
			t.Errorf("%s: %d %swant %s", host, status, text, want)
		}
	}
	if text := get(t, o, "/certs?host=shop.example"); !strings.Contains(text, `"subject": "CN=shop.example"`) {
		t.Errorf("a host with a certificate: %s", text)
	}
}

// What nginx was told is shown as soon as it was, and what the running file needs
// is shown as long as it runs, while a newer file is not confirmed.
func TestToldButNotConfirmed(t *testing.T) {
	t.Parallel()
	state := stateOf(t, shopManifests)
	newer := stateOf(t, strings.ReplaceAll(shopManifests, "name: http}", "number: 80}"))
	state.Told, state.Snapshot = newer.Told, newer.Snapshot
	var backends []debugapi.Backend
	if err := json.Unmarshal([]byte(get(t, optionsOf(state), "/backends")), &backends); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range backends {
		names = append(names, b.Key)
	}
	if want := []string{"shop/away/5432", "shop/web/80", "shop/web/http", "wild/none/80"}; !slices.Equal(names, want) {
		t.Errorf("backends %v, want %v", names, want)
	}
}

// TestFailingEndpoints: explanations and backends show the endpoints as nginx got them.
func TestFailingEndpoints(t *testing.T) {
	t.Parallel()
	state := stateOf(t, shopManifests)
	state.Told.Backends = slices.Clone(state.Told.Backends)
	for i, b := range state.Told.Backends {
		if b.Key == "shop/web/http" {
			left := *b
			left.Endpoints, left.Failing = b.Endpoints[1:], []model.Failing{{Endpoint: b.Endpoints[0], Reason: "status 503"}}
			state.Told.Backends[i] = &left
		}
	}
	for target, want := range map[string]string{
		"/explain?url=https://shop.example/":             "            health check fails: [2001:db8::1]:8080: status 503\n",
		"/explain?url=https://shop.example/&format=json": `"failing": [`,
		"/backends?name=shop-web-http":                   `"reason": "status 503"`,
	} {
		if text := get(t, optionsOf(state), target); !strings.Contains(text, want) || strings.Count(text, "2001:db8::1") != 1 {
			t.Errorf("%s: %s", target, text)
		}
	}
}

// targets ask for everything.
func targets() []string {
	return []string{
		"/conf", "/conf?format=json", "/conf?host=shop.example", "/backends", "/certs", "/certs?host=shop.example", "/certs?host=a.wild.example",
		"/certs?host=nobody.example", "/general", "/routes", "/problems", "/reloads", "/traffic", "/live?url=https://shop.example/&decision=%7B%7D", "/explain?url=https://shop.example/", "/explain?url=https://shop.example/&format=json",
		"/explain?url=https://a.wild.example/a&format=json",
	}
}

// No view has a private key, in whatever form, though the Secrets and the
// certificates that it is made of have.
func TestNoKeyIsTold(t *testing.T) {
	t.Parallel()
	state := stateOf(t, shopManifests)
	if len(state.Told.Certificates) != 3 {
		t.Fatalf("%d certificates with keys, want 3", len(state.Told.Certificates))
	}
	var secrets []string
	for _, p := range shopPairs(t) {
		block, _ := pem.Decode(p.key)
		seed := block.Bytes[len(block.Bytes)-32:]
		secrets = append(secrets, string(seed), base64.StdEncoding.EncodeToString(seed), strings.Split(string(p.key), "\n")[1], "PRIVATE KEY")
	}
	asked := targets()
	for _, p := range pages {
		if p.method == http.MethodPost {
			continue // below
		}
		if !slices.ContainsFunc(asked, func(target string) bool { return strings.HasPrefix(target, p.path) }) {
			t.Errorf("%s is not asked for", p.path)
		}
	}
	for _, target := range asked {
		got := get(t, optionsOf(state), target)
		for _, key := range secrets {
			if strings.Contains(got, key) {
				t.Errorf("%s tells a private key: %q", target, key)
			}
		}
	}
	for _, format := range []string{"text", "json", "markdown"} {
		got := differenceOf(t, optionsOf(state), "?format="+format, strings.Replace(newcomer, "  rules:", "  tls: [{hosts: [shop.example], secretName: web}]\n  rules:", 1)+secret("shop", "web", shopPairs(t)[2]))
		if !strings.Contains(got, "ingress.local") {
			t.Errorf("the certificate does not change:\n%s", got)
		}
		for _, key := range secrets {
			if strings.Contains(got, key) {
				t.Errorf("/diff tells a private key: %q", key)
			}
		}
	}
	for _, c := range state.Told.Certificates {
		if !bytes.Contains([]byte(get(t, optionsOf(state), "/certs")), []byte(strings.Split(string(c.Chain), "\n")[1])) {
			t.Error("a chain is missing, so that this test would not see its key either")
		}
	}
}

// Whatever users wrote, what is told prints: but for tabs and the ends of lines,
// it has no character that a terminal would obey.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;x\x07\x1b[31m\u202e\u0085\u2028\r\n\x00"
	state := stateOf(t, shopManifests)
	written := *state.Confirmed.Config.Static.Servers[1]
	location := *written.Locations[0]
	location.Rule.Path, location.Path = "/"+hostile, "/"+hostile
	location.Rule.Object.Name += hostile
	location.Blocks = append(slices.Clone(location.Blocks), model.Block{Name: hostile})
	written.Locations, written.Host = append([]*model.Location{&location}, written.Locations...), "shop.example"
	state.Confirmed.Config.Static.Servers = append(slices.Clone(state.Confirmed.Config.Static.Servers), &written)
	state.Told.Backends = append([]*model.Backend{{Key: "a/" + hostile + "/80", ExternalName: hostile, Endpoints: []model.Endpoint{{Address: hostile}}}}, state.Told.Backends...)
	state.Told.Names = append([]model.CertificateName{{Host: hostile, ID: state.Told.Certificates[0].ID}}, state.Told.Names...)
	state.Problems = model.SortProblems([]model.Problem{{Object: model.ObjectRef{Kind: "Ingress", Namespace: "a", Name: hostile}, Field: hostile, Text: hostile}})
	state.Last.Err = errors.New(hostile)
	state.Reloads = []debugapi.Reload{{Changed: []debugapi.Changed{{Kind: "hosts", Count: 1, Names: []string{hostile}}}, Error: hostile}}
	o := optionsOf(state)
	o.Ready = func() error { return errors.New(hostile) }
	asked := append(targets(), "/routes?host=shop.example")
	for _, p := range pages {
		for _, name := range append(slices.Clone(p.takes), hostile) {
			asked = append(asked, p.path+"?"+url.Values{name: {hostile}}.Encode())
		}
	}
	seen := 0
	for _, target := range asked {
		_, got := ask(o, http.MethodGet, target)
		seen += strings.Count(got, `x1b[31m`)
		if at := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }); at >= 0 {
			t.Errorf("%s tells %q", target, got[at:min(len(got), at+40)])
		}
		if !json.Valid([]byte(got)) && strings.HasPrefix(got, "{") {
			t.Errorf("%s is no JSON", target)
		}
	}
	if seen < 10 {
		t.Errorf("the hostile text was seen %d times only", seen)
	}
}
