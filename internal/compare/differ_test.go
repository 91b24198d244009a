package compare

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/route"
)

// ok is an answer with headers, each "NAME: VALUE".
func ok(headers ...string) Answer { return statusOf(200, headers...) }

func statusOf(status int, headers ...string) Answer {
	a := Answer{Status: status}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		a.Headers = append(a.Headers, route.Header{Name: name, Value: value})
	}
	return a
}

func tries(a ...Answer) []Answer { return a }

func TestCompare(t *testing.T) {
	t.Parallel()
	rules := &Rules{BackendHeader: "X-Pod", Body: true, Ports: [2]Ports{{8080, 8443}, {80, 9443}}}
	certified := func(name string) Answer {
		return Answer{Status: 200, Certificate: &Certificate{CommonName: name, Names: []string{name}, Fingerprint: "00"}}
	}
	for name, test := range map[string]struct {
		a, b           []Answer
		want, unstable []string
	}{
		"equal":                                {tries(ok("X-A: 1")), tries(ok("X-A: 1")), nil, nil},
		"ignored headers":                      {tries(ok("Date: now", "X-Request-Id: 1")), tries(ok("Date: then", "X-Request-Id: 2")), nil, nil},
		"a missing header":                     {tries(ok("X-A: 1")), tries(ok()), []string{"Header X-A"}, nil},
		"a header twice":                       {tries(ok("X-A: 1", "X-A: 2")), tries(ok("X-A: 1")), []string{"Header X-A"}, nil},
		"a status, and what follows of it":     {tries(statusOf(404, "X-A: 1")), tries(ok()), []string{"Status"}, nil},
		"a backend, and what follows":          {tries(ok("X-Pod: a", "X-A: 1")), tries(ok("X-Pod: b")), []string{"Backend"}, nil},
		"no answer":                            {tries(Answer{Fault: "closed"}), tries(ok()), []string{"NoAnswer"}, nil},
		"the same failure":                     {tries(Answer{Fault: "closed"}), tries(Answer{Fault: "closed"}), nil, nil},
		"a redirect":                           {tries(statusOf(302, "Location: /a")), tries(statusOf(302, "Location: /b")), []string{"Redirect"}, nil},
		"the ports of the controllers":         {tries(statusOf(302, "Location: https://x:8443/a")), tries(statusOf(302, "Location: https://x:9443/a")), nil, nil},
		"another port":                         {tries(statusOf(302, "Location: https://x:8443/a")), tries(statusOf(302, "Location: https://x:8443/a")), []string{"Redirect"}, nil},
		"a cookie's value":                     {tries(ok("Set-Cookie: s=1; Path=/")), tries(ok("Set-Cookie: s=2; path=/")), nil, nil},
		"a cookie's attributes":                {tries(ok("Set-Cookie: s=1; Path=/; Secure")), tries(ok("Set-Cookie: s=1; Path=/")), []string{"Cookie s"}, nil},
		"a missing cookie":                     {tries(ok("Set-Cookie: s=1")), tries(ok()), []string{"Cookie s"}, nil},
		"a certificate":                        {tries(certified("a")), tries(certified("b")), []string{"Certificate"}, nil},
		"a body":                               {tries(Answer{Status: 200, Body: "1"}), tries(Answer{Status: 200, Body: "2"}), []string{"Body"}, nil},
		"a canary":                             {tries(ok("X-Pod: a"), ok("X-Pod: b")), tries(ok("X-Pod: b"), ok("X-Pod: b")), nil, []string{"Backend"}},
		"a random header":                      {tries(ok("X-A: 1"), ok("X-A: 2")), tries(ok("X-A: 3"), ok("X-A: 4")), nil, []string{"Header X-A"}},
		"a random header of one of them":       {tries(ok("X-A: 1"), ok("X-A: 2")), tries(ok(), ok()), []string{"Header X-A"}, nil},
		"another backend than of the canary":   {tries(ok("X-Pod: a"), ok("X-Pod: b")), tries(ok("X-Pod: c"), ok("X-Pod: c")), []string{"Backend"}, nil},
		"a status that comes and goes":         {tries(statusOf(404), ok()), tries(ok(), ok()), nil, []string{"Status"}},
		"a failure of one that comes and goes": {tries(ok(), ok(), ok()), tries(ok(), statusOf(503), ok()), []string{"Status"}, nil},
		"a failure of the other one":           {tries(statusOf(502), ok()), tries(ok(), ok()), []string{"Status"}, nil},
		"failures of both":                     {tries(statusOf(502), ok()), tries(ok(), statusOf(502)), nil, []string{"Status"}},
		"an answer that is missing at times":   {tries(ok(), ok()), tries(ok(), Answer{Fault: "closed"}), []string{"NoAnswer"}, nil},
	} {
		r := Compare(Request{}, [2][]Answer{test.a, test.b}, rules)
		var got, unstable []string
		for _, d := range r.Differences {
			got = append(got, d.Place.String())
		}
		for _, u := range r.Unstable {
			unstable = append(unstable, u.Place.String())
		}
		if !slices.Equal(got, test.want) || !slices.Equal(unstable, test.unstable) {
			t.Errorf("%s: got %v, and not repeated %v; want %v and %v", name, got, unstable, test.want, test.unstable)
		}
	}
}

// TestNamedHeaders holds that only the named headers are compared, ignored ones too.
func TestNamedHeaders(t *testing.T) {
	t.Parallel()
	r := Compare(Request{}, [2][]Answer{{ok("X-A: 1", "Date: 1")}, {ok("X-A: 2", "Date: 2")}}, &Rules{Headers: []string{"Date"}})
	if len(r.Differences) != 1 || r.Differences[0].Name != "Date" {
		t.Errorf("got %v", r.Differences)
	}
}

// TestCookieValuesStayUnsaid holds that no report has the value of a cookie.
func TestCookieValuesStayUnsaid(t *testing.T) {
	t.Parallel()
	core := coreOf(t, shop)
	q := Request{Method: "GET", Scheme: "https", Host: "shop.example", Target: "/cart/"}
	r := Compare(q, [2][]Answer{{ok("Set-Cookie: s=SECRET; Path=/")}, {ok("Set-Cookie: t=SECRET")}}, &Rules{})
	report := NewReport(core, []Result{r}, nil)
	var text strings.Builder
	if err := report.WriteText(&text); err != nil || report.Differing != 1 || strings.Contains(text.String(), "SECRET") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// resultOf compares two answers to a request for the shop.
func resultOf(target string, a, b Answer) Result {
	return Compare(Request{Method: "GET", Scheme: "https", Host: "shop.example", Target: target}, [2][]Answer{{a}, {b}}, &Rules{})
}

func TestKnownDifferences(t *testing.T) {
	t.Parallel()
	manifests := strings.Replace(shop, "      - {path: /cart/,", `      - {path: /exact/, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /a%20b, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /res, pathType: Prefix, backend: {resource: {kind: Bucket, name: icons}}}
      - {path: /cart/,`, 1)
	protected := strings.Replace(manifests, "metadata: {name: web, namespace: shop, annotations: {", `metadata: {name: web, namespace: shop, annotations: {nginx.ingress.kubernetes.io/whitelist-source-range: "x", nginx.ingress.kubernetes.io/client-body-buffer-size: "y", `, 1)
	fake := func(fingerprint string) Answer {
		return Answer{Status: 200, Certificate: &Certificate{CommonName: "Kubernetes Ingress Controller Fake Certificate", Fingerprint: fingerprint}}
	}
	redirect := func(to string) Answer { return statusOf(301, "Location: "+to) }
	for name, test := range map[string]struct {
		manifests, target string
		a, b              Answer
		want              string
	}{
		"prefix":                     {manifests, "/cart", redirect("http://shop.example/cart/"), ok(), "path-prefix-slash"},
		"prefix, elsewhere":          {manifests, "/cart", redirect("http://shop.example/other"), ok(), ""},
		"prefix, not redirected":     {manifests, "/cart", statusOf(404), ok(), ""},
		"another path":               {manifests, "/other", redirect("http://shop.example/other/"), ok(), ""},
		"exact":                      {manifests, "/exact", redirect("http://shop.example/exact/"), statusOf(404), "path-shadow"},
		"escapes":                    {manifests, "/a%20b", statusOf(404), ok(), "path-encoded"},
		"resource":                   {manifests, "/res", statusOf(404), statusOf(503), "resource-backend"},
		"server":                     {manifests, "/cart/", ok(), ok("Server: nginx"), "server-header"},
		"another server":             {manifests, "/cart/", ok(), ok("Server: apache"), ""},
		"hsts":                       {manifests, "/cart/", statusOf(302), statusOf(302, "Strict-Transport-Security: max-age=1"), "hsts"},
		"hsts of a served path":      {manifests, "/cart/", ok(), ok("Strict-Transport-Security: max-age=1"), ""},
		"hsts missing":               {manifests, "/cart/", statusOf(302, "Strict-Transport-Security: max-age=1"), statusOf(302), ""},
		"port":                       {manifests, "/cart/", redirect("https://shop.example:443/x"), redirect("https://shop.example/x"), "redirect-port"},
		"another target":             {manifests, "/cart/", redirect("https://shop.example:443/x"), redirect("https://shop.example/y"), ""},
		"self-signed":                {manifests, "/cart/", fake("1"), fake("2"), "self-signed"},
		"closed":                     {protected, "/cart/", ok(), statusOf(503), "closed"},
		"503 of a path that is open": {manifests, "/cart/", ok(), statusOf(503), ""},
		"invalid":                    {protected, "/cart/", statusOf(404), ok(), "invalid-value"},
		"404 of a valid one":         {manifests, "/cart/", statusOf(404), ok(), ""},
	} {
		core := coreOf(t, test.manifests)
		report := NewReport(core, []Result{resultOf(test.target, test.a, test.b)}, nil)
		got := ""
		if len(report.Causes) != 1 {
			t.Errorf("%s: %d causes", name, len(report.Causes))
			continue
		}
		if known := report.Causes[0].Known; known != nil {
			got = known.Case
		}
		if got != test.want {
			t.Errorf("%s: known as %q, want %q", name, got, test.want)
		}
		ignored := NewReport(core, []Result{resultOf(test.target, test.a, test.b)}, Ignore{"known"})
		if (ignored.Differing == 0) != (test.want != "" && !slices.Contains(refused, test.want)) {
			t.Errorf("%s: --ignore Known leaves %d", name, ignored.Differing)
		}
		if named := NewReport(core, []Result{resultOf(test.target, test.a, test.b)}, Ignore{test.want}); test.want != "" && named.Differing > 0 {
			t.Errorf("%s: --ignore %s leaves %d", name, test.want, named.Differing)
		}
	}
}

func TestIgnore(t *testing.T) {
	t.Parallel()
	d := Difference{Place: Place{Header, "X-A"}}
	for name, want := range map[string]bool{"Header": true, "header": true, "Header:X-A": true, "header:x-a": true, "Header:X-B": false, "Cookie:X-A": false, "Cookie": false, "Known": false} {
		if got := (Ignore{name}).has(d, nil); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestCausesAreMerged holds that a difference of many rules is one cause, and that of few one
// for each.
func TestCausesAreMerged(t *testing.T) {
	t.Parallel()
	paths := strings.Builder{}
	targets := []string{"/a", "/b", "/c", "/d", "/e", "/f"}
	for _, path := range targets {
		paths.WriteString("      - {path: " + path + ", pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}\n")
	}
	core := coreOf(t, strings.Replace(shop, "      - {path: /cart/, pathType: Prefix, backend: {service: {name: web,", paths.String()+"      - {path: /cart/, pathType: Prefix, backend: {service: {name: web,", 1))
	report := func(b func(target string) Answer, targets []string) *Report {
		var results []Result
		for _, target := range targets {
			results = append(results, resultOf(target, ok("X-A: 1"), b(target)))
		}
		return NewReport(core, results, nil)
	}
	missing := func(string) Answer { return ok() }
	if r := report(missing, targets); len(r.Causes) != 1 || r.Causes[0].Rules != 6 || r.Causes[0].Requests != 6 || len(r.Causes[0].Objects) != 1 {
		t.Errorf("six rules: %+v", r.Causes)
	}
	if r := report(missing, targets[:4]); len(r.Causes) != 4 || r.Causes[0].Path != "Prefix /a" {
		t.Errorf("four rules: %d causes", len(r.Causes))
	}
	if r := report(func(target string) Answer { return ok("X-A: " + target) }, targets); len(r.Causes) != 6 {
		t.Errorf("other values: %d causes", len(r.Causes))
	}
	if r := report(func(string) Answer { return statusOf(404) }, targets); len(r.Causes) != 6 {
		t.Errorf("statuses: %d causes", len(r.Causes))
	}
}

// TestVaryingValuesDoNotCount holds that a difference is none if the same rule does not repeat
// its values elsewhere.
func TestVaryingValuesDoNotCount(t *testing.T) {
	t.Parallel()
	core, rules := coreOf(t, shop), &Rules{BackendHeader: "X-Pod"}
	request := func(target string) Request {
		return Request{Method: "GET", Scheme: "https", Host: "shop.example", Target: target}
	}
	varies := Compare(request("/cart/1"), [2][]Answer{{ok("X-Pod: a"), ok("X-Pod: b")}, {ok("X-Pod: b"), ok("X-Pod: a")}}, rules)
	chance := Compare(request("/cart/2"), [2][]Answer{{ok("X-Pod: a"), ok("X-Pod: a")}, {ok("X-Pod: b"), ok("X-Pod: b")}}, rules)
	wrong := Compare(request("/cart/3"), [2][]Answer{{ok("X-Pod: a"), ok("X-Pod: a")}, {ok("X-Pod: c"), ok("X-Pod: c")}}, rules)
	report := NewReport(core, []Result{varies, chance, wrong}, nil)
	if report.Differing != 1 || report.Unstable != 2 || len(report.Causes) != 1 || report.Causes[0].Example.B != "c" {
		t.Errorf("%s: %+v", report.Summary(), report.Causes)
	}
}

// TestNoSuccess: two controllers that agree, but answer nothing with success, show nothing.
func TestNoSuccess(t *testing.T) {
	t.Parallel()
	core := coreOf(t, shop)
	for name, test := range map[string]struct {
		a, b Answer
		want int
	}{
		"errors":    {statusOf(404), statusOf(503), 0},
		"redirects": {statusOf(308), statusOf(308), 0},
		"one":       {statusOf(404), ok(), 0},
		"gone":      {Answer{}, Answer{}, 0},
		"both":      {ok(), ok(), 1},
	} {
		report := NewReport(core, []Result{resultOf("/cart/", test.a, test.b), resultOf("/", statusOf(308), statusOf(308))}, nil)
		if report.Successes != test.want || strings.Contains(report.Summary(), "with success") != (test.want == 0) {
			t.Errorf("%s: %d successes; %s", name, report.Successes, report.Summary())
		}
	}
}
