package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

// standIn is a controller with n Ingresses of two paths each.
type standIn struct {
	n int

	mu    sync.Mutex
	err   error
	hash  string
	asked map[string]int
}

func (s *standIn) get(_ context.Context, q question) ([]byte, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[q.path]++
	if s.err != nil {
		return nil, "", s.err
	}
	body, err := json.Marshal(s.view(q))
	if q.path == debugapi.ExplainPath {
		body = []byte("explained: " + q.query.Encode() + "\x1b[31m\n")
	}
	return body, "sluice/pod", err
}

const uiHostile = "<img src=x onerror=alert(1)>\x1b[31m\u202e\"'&"

func (s *standIn) view(q question) any {
	switch q.path {
	case debugapi.RoutesPath:
		routes := []debugapi.Route{{Host: uiHostile, Match: "exact", Path: uiHostile, Extras: []string{}}}
		for i := range s.n {
			for _, path := range []string{"/", "/a"} {
				routes = append(routes, debugapi.Route{
					Host: fmt.Sprintf("app-%d.example", i), Match: "prefix", Path: path, Answer: "shop/web/80",
					Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: fmt.Sprintf("app-%d", i)}, Extras: []string{"cors"},
				})
			}
		}
		return routes
	case debugapi.GeneralPath:
		return debugapi.General{Version: "1", ConfHash: s.hash, Ready: true, Nginx: debugapi.Nginx{Answers: true, Version: "1.26.3"}, Counts: debugapi.Counts{Ingresses: s.n}}
	case debugapi.BackendsPath:
		up, down := debugapi.Endpoint{Address: "10.0.0.1", Port: 80}, debugapi.Endpoint{Address: "10.0.0.2", Port: 80}
		return []debugapi.Backend{{Name: "shop-web-80", Namespace: "shop", Service: "web", Endpoints: []debugapi.Endpoint{up}, Failing: []debugapi.Failing{{Endpoint: down, Reason: "status 500"}}}}
	case debugapi.CertsPath:
		now := time.Now()
		return []debugapi.Certificate{{Hosts: []string{"late.example"}, NotAfter: now.Add(100 * 24 * time.Hour)}, {Hosts: []string{"soon.example"}, NotAfter: now.Add(time.Hour), Chain: "PEM"}}
	case debugapi.ReloadsPath:
		return []debugapi.Reload{{At: time.Unix(1e9, 0), Cause: "hosts", Lines: 7, Bytes: 99, Error: "nginx refuses it"}}
	case debugapi.ConfPath:
		matched := map[string]int{"a": 2}[s.hash] // another file has none
		return debugapi.Conf{Hash: s.hash, Total: 9, Matched: matched, Lines: []debugapi.Line{{Number: 4, Text: "\tlisten 80;", Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "a"}, Behaviour: "cors"}}}
	}
	return []any{}
}

func (s *standIn) rates(context.Context) (top, error) {
	return top{Ingresses: []topRow{{Namespace: "shop", Ingress: "app-1", PerSecond: 7, ServerErrors: 0.5}}}, nil
}

func (s *standIn) set(hash string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hash, s.err = hash, err
}

func (s *standIn) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

const (
	uiHost  = "127.0.0.1:8100"
	uiToken = "TOKEN"
)

func uiOf(t testing.TB, n int) (*ui, *standIn) {
	t.Helper()
	s := &standIn{n: n, hash: "a", asked: map[string]int{}}
	return newUI(t.Context(), s, uiHost, uiToken), s
}

// request asks the page; change may be nil.
func (u *ui) request(t testing.TB, method, path string, change func(*http.Request)) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://"+uiHost+path, http.NoBody)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	u.handler().ServeHTTP(w, r)
	return w.Result()
}

func textOf(t testing.TB, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (u *ui) tableOf(t testing.TB, path string) (table uiTable) {
	t.Helper()
	r := u.request(t, http.MethodGet, "/"+uiToken+path, nil)
	text := textOf(t, r)
	if err := json.Unmarshal([]byte(text), &table); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, r.StatusCode, text, err)
	}
	return table
}

// Only reads get in, with the right Host and the token, and each answer has the headers.
func TestUIGuard(t *testing.T) {
	t.Parallel()
	u, source := uiOf(t, 1)
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, test := range []struct {
		method, path string
		change       func(*http.Request)
		status       int
	}{
		{"GET", "/TOKEN/", nil, 200}, {"HEAD", "/TOKEN/", nil, 200}, {"GET", "/TOKEN/page.js", nil, 200}, {"GET", "/TOKEN/page.css", nil, 200}, {"GET", "/TOKEN/icon.svg", nil, 200},
		{"GET", "/TOKEN/table/routes", nil, 200}, {"GET", "/TOKEN/", host("localhost:8100"), 200},
		{"GET", "/TOKEN/", host("evil.example:8100"), 421}, {"GET", "/TOKEN/table/routes", host("127.0.0.1:81"), 421}, {"GET", "/TOKEN/", host("127.0.0.1"), 421}, {"GET", "/TOKEN/", host(""), 421},
		{"POST", "/TOKEN/", nil, 405}, {"PUT", "/TOKEN/table/routes", nil, 405}, {"DELETE", "/TOKEN/conf", nil, 405}, {"OPTIONS", "/TOKEN/", nil, 405}, {"POST", "/", nil, 405},
		{"GET", "/", nil, 404}, {"GET", "/token/", nil, 404}, {"GET", "/TOKEN", nil, 404}, {"GET", "/TOKENS/", nil, 404}, {"GET", "/page.js", nil, 404}, {"GET", "//TOKEN/", nil, 404},
		{"GET", "/TOKEN/index.html", nil, 404}, {"GET", "/TOKEN/ui/page.js", nil, 404}, {"GET", "/TOKEN/live", nil, 404}, {"GET", "/TOKEN/diff", nil, 404},
		{"GET", "/TOKEN/table/secrets", nil, 400}, {"GET", "/TOKEN/table/routes?limit=501", nil, 400}, {"GET", "/TOKEN/table/routes?offset=-1", nil, 400}, {"GET", "/TOKEN/conf?limit=x", nil, 400},
		{"GET", "/TOKEN/conf?search=" + strings.Repeat("a", 201), nil, 400}, {"GET", "/TOKEN/explain?url=" + strings.Repeat("a", 8001), nil, 400},
	} {
		r := u.request(t, test.method, test.path, test.change)
		if r.StatusCode != test.status {
			t.Errorf("%s %s: %d, want %d", test.method, test.path, r.StatusCode, test.status)
		}
		csp := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp+";", want+";") {
				t.Errorf("%s %s: the policy lacks %s", test.method, test.path, want)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s %s: the policy is %s", test.method, test.path, csp)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s %s: %s is %q", test.method, test.path, name, got)
			}
		}
		if strings.Contains(textOf(t, r), uiToken) {
			t.Errorf("%s %s: the answer has the token", test.method, test.path)
		}
	}
	for path, n := range source.asked {
		if path == debugapi.LivePath || path == debugapi.DiffPath {
			t.Errorf("%s was asked for %d times", path, n)
		}
	}
}

// The files have no inline script or style, lead nowhere else, and make no markup of texts.
func TestUIFiles(t *testing.T) {
	t.Parallel()
	for name := range uiTypes {
		text, err := uiFiles.ReadFile("ui/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range uiWrong(name, string(text)) {
			t.Errorf("%s has %s", name, wrong)
		}
	}
	for name, text := range map[string]string{
		"a.html": `<p onclick="go()">`, "b.html": `<script>go()</script>`, "c.html": `<style>p {}</style>`, "d.html": `<p style="color: red">`, "e.html": `<script src="https://cdn.example/x.js"></script>`,
		"f.js": "x.innerHTML = y", "g.js": "eval(y)", "h.css": "@import url(//a.example/x.css)", "i.js": "fetch(path, { method: 'POST' })", "j.js": "x.insertAdjacentHTML('beforeend', y)",
	} {
		if len(uiWrong(name, text)) == 0 {
			t.Errorf("%s is not refused", text)
		}
	}
}

// The patterns of what a file of the page must not have.
var (
	uiWrongAnywhere = regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+\.[a-z]|@import|url\(`)
	uiWrongHTML     = regexp.MustCompile(`(?i)<[^>]*\s(on[a-z]+|style)\s*=|<script[^>]*>[^<]|<style`)
	uiWrongJS       = regexp.MustCompile(`(?i)(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|Function\(|method: *['"]|sendBeacon|WebSocket|localStorage|cookie`)
)

func uiWrong(name, text string) []string {
	text = strings.NewReplacer("https://www.shop.example/cart, or", "", `xmlns="http://www.w3.org/2000/svg"`, "").Replace(text)
	found := uiWrongAnywhere.FindAllString(text, -1)
	switch {
	case strings.HasSuffix(name, ".html"), strings.HasSuffix(name, ".svg"):
		found = append(found, uiWrongHTML.FindAllString(text, -1)...)
	case strings.HasSuffix(name, ".js"):
		found = append(found, uiWrongJS.FindAllString(text, -1)...)
	}
	return found
}

// The server searches 10,000 Ingresses and gives them in pages.
func TestUISearchesAndPages(t *testing.T) {
	t.Parallel()
	u, source := uiOf(t, 10_000)
	all := u.tableOf(t, "/table/routes")
	if all.Total != 20_001 || all.Matched != 20_001 || len(all.Rows) != 100 {
		t.Fatalf("all: %d of %d, %d rows", all.Matched, all.Total, len(all.Rows))
	}
	found := u.tableOf(t, "/table/routes?search="+url.QueryEscape(" APP-12  /A ")+"&offset=100&limit=500")
	if found.Matched != 222 || len(found.Rows) != 122 || found.Offset != 100 {
		t.Errorf("found: %d, %d rows from %d", found.Matched, len(found.Rows), found.Offset)
	}
	seen := map[string]bool{}
	for offset := 0; offset < 222; offset += 50 {
		for _, row := range u.tableOf(t, "/table/routes?search=app-12&limit=50&offset="+strconv.Itoa(offset)).Rows {
			if seen[row.URL] || !strings.Contains(row.URL, "app-12") {
				t.Errorf("%s is on a second page", row.URL)
			}
			seen[row.URL] = true
		}
	}
	if len(seen) != 222 {
		t.Errorf("the pages have %d rows", len(seen))
	}
	if none := u.tableOf(t, "/table/routes?search=app-123%20nowhere"); none.Matched != 0 || none.Rows == nil {
		t.Errorf("nothing is found as %+v", none)
	}
	if n := source.count(debugapi.RoutesPath); n != 1 {
		t.Errorf("the controller was asked %d times", n)
	}
}

// Hostile texts become one printable line, and are no markup in JSON either.
func TestUIHostileTexts(t *testing.T) {
	t.Parallel()
	u, _ := uiOf(t, 0)
	body := textOf(t, u.request(t, http.MethodGet, "/TOKEN/table/routes", nil))
	if strings.ContainsAny(body, "<>\x1b\u202e") {
		t.Errorf("the answer is %s", body)
	}
	const want = `<img src=x onerror=alert(1)>\x1b[31m\u202e"'&`
	if got := u.tableOf(t, "/table/routes").Rows[0].Cells[0].Text; got != want {
		t.Errorf("the host is %s", got)
	}
	var explained struct{ Text string }
	r := u.request(t, http.MethodGet, "/TOKEN/explain?url="+url.QueryEscape("a/?b=<c>&d"), nil)
	if err := json.Unmarshal([]byte(textOf(t, r)), &explained); err != nil || explained.Text != "explained: method=GET&url=a%2F%3Fb%3D%3Cc%3E%26d\\x1b[31m\n" {
		t.Errorf("explain: %q %v", explained.Text, err)
	}
}

// Each section has the columns of its command, and marks what is bad.
func TestUISections(t *testing.T) {
	t.Parallel()
	u, _ := uiOf(t, 3)
	for name, want := range map[string]struct {
		column, row int
		cell        uiCell
	}{
		"backends":     {3, 0, uiCell{"1/2", "bad"}},
		"certificates": {0, 0, uiCell{"soon.example", ""}},
		"reloads":      {6, 0, uiCell{"failed: nginx refuses it", "bad"}},
		"rates":        {4, 0, uiCell{"50.0%", "bad"}},
		"general":      {1, 2, uiCell{"yes", "good"}},
	} {
		table := u.tableOf(t, "/table/"+name)
		if len(table.Rows) <= want.row || table.Rows[want.row].Cells[want.column] != want.cell {
			t.Errorf("%s: %+v", name, table)
		}
	}
	if reload := u.tableOf(t, "/table/reloads").Rows[0].Cells; reload[len(reload)-1].Text != "7 lines, 99 bytes" || reload[len(reload)-2].Text != "2001-09-09T01:46:40Z" {
		t.Errorf("the reload is %+v", reload)
	}
	if ends := u.tableOf(t, "/table/backends").Rows[0].Cells[4].Text; ends != "10.0.0.2:80 (status 500),10.0.0.1:80" {
		t.Errorf("the endpoints are %s", ends)
	}
	conf := u.tableOf(t, "/conf?search=listen")
	if want := []uiCell{{"4", ""}, {"Ingress shop/a cors", ""}, {"    listen 80;", ""}}; conf.Matched != 2 || conf.Total != 9 || fmt.Sprint(conf.Rows[0].Cells) != fmt.Sprint(want) {
		t.Errorf("nginx.conf: %+v", conf)
	}
}

// After a failure, the old rows stay beside the error, and the section is read again.
func TestUIFailures(t *testing.T) {
	t.Parallel()
	u, source := uiOf(t, 3)
	source.set("a", errors.New("the pod is gone"))
	if table := u.tableOf(t, "/table/problems"); table.Error != "the pod is gone" || table.Rows == nil {
		t.Errorf("at first: %+v", table)
	}
	if table := u.tableOf(t, "/conf"); table.Error != "the pod is gone" || table.Rows == nil {
		t.Errorf("nginx.conf: %+v", table)
	}
	source.set("a", nil)
	u.tableOf(t, "/table/general")
	if table := u.tableOf(t, "/table/routes"); table.Total != 7 || table.Error != "" {
		t.Errorf("routes: %+v", table)
	}
	u.tableOf(t, "/table/routes")
	source.set("b", errors.New("the pod is gone"))
	kept := u.kept["routes"]
	kept.look(t.Context(), "b") // begins to read
	<-kept.busy()
	if table := u.tableOf(t, "/table/routes"); table.Total != 7 || table.Error != "the pod is gone" {
		t.Errorf("after a failure: %+v", table)
	}
	source.set("b", nil)
	kept.mu.Lock()
	kept.tried = kept.tried.Add(-retryAfter)
	kept.mu.Unlock()
	kept.look(t.Context(), "b")
	<-kept.busy()
	if table := u.tableOf(t, "/table/routes"); table.Error != "" {
		t.Errorf("when the pod is back: %+v", table)
	}
	if n := source.count(debugapi.RoutesPath); n != 3 {
		t.Errorf("the routes were read %d times", n)
	}
}

// busy is closed when nothing is read.
func (k *kept) busy() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reading != nil {
		return k.reading
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// nginx.conf is asked for again when it has changed only, and then the answer is of the new one. After
// a failure, the old lines stay beside the error.
func TestUIKeepsAPartOfConf(t *testing.T) {
	t.Parallel()
	u, source := uiOf(t, 1)
	u.mu.Lock()
	u.hash = "a"
	u.mu.Unlock()
	for range 3 {
		u.tableOf(t, "/conf?search=x")
	}
	if n := source.count(debugapi.ConfPath); n != 1 {
		t.Errorf("the same part was asked for %d times", n)
	}
	u.tableOf(t, "/conf?search=y")
	u.mu.Lock()
	u.hash = "b"
	u.mu.Unlock()
	source.set("b", nil)
	if table := u.tableOf(t, "/conf?search=y"); table.Matched != 0 {
		t.Errorf("the answer is of the former file: %+v", table)
	}
	if n := source.count(debugapi.ConfPath); n != 3 {
		t.Errorf("in all it was asked for %d times", n)
	}
	source.set("c", errors.New("the pod is gone"))
	u.mu.Lock()
	u.hash = "c"
	u.mu.Unlock()
	if table := u.tableOf(t, "/conf?search=y"); table.Error != "the pod is gone" || len(table.Rows) != 1 {
		t.Errorf("after a failure: %+v", table)
	}
}

// A row leads to a URL that explain takes.
func TestRouteURL(t *testing.T) {
	t.Parallel()
	for want, row := range map[string][]cell{
		"https://a.example/b":     cells("a.example", "prefix", "/b"),
		"https://any.a.example/":  cells("*.a.example", "fallback", ""),
		"https://any.example/x/":  cells("*", "pattern", `/x/(.*)\.php`),
		"https://a.example/b(c)?": cells("a.example", "exact", "/b(c)?"),
	} {
		if got := routeURL(row); got != want {
			t.Errorf("%v: %s, want %s", row, got, want)
		}
	}
}

// BenchmarkUISearch searches the routes of 10,000 Ingresses.
func BenchmarkUISearch(b *testing.B) {
	u, _ := uiOf(b, 10_000)
	u.tableOf(b, "/table/routes")
	for b.Loop() {
		u.request(b, http.MethodGet, "/TOKEN/table/routes?search=app-9876+shop", nil)
	}
}
