package snippets_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/internal/keys"
	"sluice/internal/snippets"
)

// refusing is a snippet that refuses requests, and a model of nginx for it.
type refusing struct {
	text    string
	refuses func(request) bool
}

// request is a part of a request: its decoded path, or a header or parameter.
type request struct{ path, name, value string }

// edges are paths around those of the snippets.
var edges = []string{
	"/", "/admin", "/admin/", "/admin/x", "/adminx", "/admin.php", "/Admin", "/ADMIN/x", "/x/admin", "/adm", "/admin/x/y",
	"/.git", "/.git/config", "/a/.git", "/.gitx", "/a.git", "/.GIT", "/A", "/a", "/1", "/b/A", "/AAx", "/aA",
}

func begins(prefix string) func(request) bool {
	return func(r request) bool { return strings.HasPrefix(r.path, prefix) }
}

func is(path string) func(request) bool { return func(r request) bool { return r.path == path } }

func matches(pattern string) func(request) bool {
	compiled := regexp.MustCompile(pattern)
	return func(r request) bool { return compiled.MatchString(r.path) }
}

var everyPath = func(request) bool { return true }

// Each refusal of a path by a snippet of the server.
var byPath = []refusing{
	{"location /admin { allow 10.0.0.0/8; deny all; }", begins("/admin")},
	{"location ^~ /admin { allow 10.0.0.0/8; deny all; }", begins("/admin")},
	{"location /admin/ { allow 10.0.0.0/8; deny all; }", begins("/admin/")},
	{"location = /admin { allow 10.0.0.0/8; deny all; }", is("/admin")},
	{"location ~ ^/admin { allow 10.0.0.0/8; deny all; }", begins("/admin")},
	{"location ~ ^/(admin|a) { allow 10.0.0.0/8; deny all; }", matches("^/(admin|a)")},
	{"location ~ ^/admin$ { deny 192.0.2.1; }", is("/admin")},
	{"location /admin { deny 192.0.2.1; }", begins("/admin")},
	{"location /admin { if ($remote_addr != 10.0.0.1) { return 403; } }", begins("/admin")},
	{"location /admin { deny all; }", begins("/admin")},
	{"location /admin/ { return 404; }", begins("/admin/")},
	{"location = /admin { return 403; }", is("/admin")},
	{`location ~ /\.git { deny all; }`, matches(`/\.git`)},
	{`location ~* /\.git { deny all; }`, matches(`(?i)/\.git`)},
	{"location ~ ^/[^a-z] { deny all; }", matches("^/[^a-z]")},
	{"location ~ ^/[^/]+/A { deny all; }", matches("^/[^/]+/A")},
	{"location ~ ^/a*+A { deny all; }", matches("^/a*A")},
	{"if ($uri ~ ^/admin) { return 403; }", begins("/admin")},
	{"if ($request_uri = /admin) { return 403; }", is("/admin")},
	{"if ($uri ~* ^/admin) { return 403; }", matches("(?i)^/admin")},
	{"deny all;", everyPath},
	{"deny 192.0.2.1;", everyPath},
	{"return 403;", everyPath},
}

// TestPathsStayRefused: a replacement refuses every path that the snippet refuses, or the
// advice is to keep the snippet.
func TestPathsStayRefused(t *testing.T) {
	t.Parallel()
	replaced := 0
	for _, test := range byPath {
		for _, server := range []bool{true, false} {
			advice, err := snippets.Read(snippets.Snippet{Text: test.text, Server: server, Paths: []string{"/"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(advice.Left) > 0 {
				continue
			}
			replaced++
			for _, path := range edges {
				if test.refuses(request{path: path}) && !slices.ContainsFunc(advice.Write, func(a snippets.Annotation) bool { return refusesPath(t, a, path) }) {
					t.Errorf("%s refuses %s, and %v does not", test.text, path, advice.Write)
				}
			}
			for _, a := range advice.Write {
				if server && !strings.HasPrefix(a.Name, snippets.OwnPrefix+"paths.") && !strings.Contains(a.Also, "each Ingress of the host") {
					t.Errorf("%s holds for the whole host, and %v for one Ingress: %s", test.text, a.Name, a.Also)
				}
			}
		}
	}
	if replaced < 15 {
		t.Errorf("only %d snippets have a replacement", replaced)
	}
}

// refusesPath reports whether an annotation of the Ingress with the path / is about a path.
func refusesPath(t *testing.T, a snippets.Annotation, path string) bool {
	t.Helper()
	switch name := strings.TrimPrefix(a.Name, snippets.OwnPrefix); {
	case name == "deny-paths":
		var lines keys.DeniedPaths
		if err := lines.UnmarshalText([]byte(a.Value)); err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(lines, func(line keys.DeniedPath) bool {
			return regexp.MustCompile("(?i)" + line.Pattern).MatchString(path)
		})
	case strings.HasPrefix(name, "paths."):
		of, _, _ := strings.Cut(a.Value, ": ")
		below := strings.TrimSuffix(of, "/") + "/"
		return path == of || strings.HasPrefix(path, below) && strings.Contains(a.Also, "type Prefix")
	}
	return a.Where == ""
}

// Each refusal by the header X-T or the parameter t. nginx knows a missing one as empty.
var byValue = []refusing{
	{`if ($http_x_t = "a") { return 403; }`, func(r request) bool { return r.value == "a" }},
	{`if ($http_x_t != "a") { return 403; }`, func(r request) bool { return r.value != "a" }},
	{`if ($http_x_t = "") { return 403; }`, func(r request) bool { return r.value == "" }},
	{`if ($http_x_t != "") { return 403; }`, func(r request) bool { return r.value != "" }},
	{`if ($http_x_t) { return 403; }`, func(r request) bool { return r.value != "" && r.value != "0" }},
	{`if ($http_x_t ~ a) { return 403; }`, func(r request) bool { return strings.Contains(r.value, "a") }},
	{`if ($http_x_t ~* a) { return 403; }`, func(r request) bool { return strings.Contains(strings.ToLower(r.value), "a") }},
	{`if ($http_x_t !~ ^a$) { return 403; }`, func(r request) bool { return r.value != "a" }},
	{`if ($http_x_t !~* ^a) { return 403; }`, func(r request) bool { return !strings.HasPrefix(strings.ToLower(r.value), "a") }},
	{`if ($http_x_t ~ "^$|b") { return 403; }`, func(r request) bool { return r.value == "" || strings.Contains(r.value, "b") }},
	{`if ($http_x_t ~* "^(a|b)?$") { return 403; }`, func(r request) bool { return regexp.MustCompile("(?i)^(a|b)?$").MatchString(r.value) }},
	{`if ($http_x_t != "a ") { return 403; }`, everyPath}, // nginx takes spaces from the end of a header
	{`if ($arg_t = "a") { return 403; }`, func(r request) bool { return r.value == "a" }},
	{`if ($arg_t != "a/b") { return 403; }`, func(r request) bool { return r.value != "a/b" }},
	{`if ($arg_t ~ a) { return 403; }`, func(r request) bool { return strings.Contains(r.value, "a") }},
	{`if ($arg_t = "") { return 403; }`, func(r request) bool { return r.value == "" }},
}

var copied = regexp.MustCompile(`^a copy of this Ingress with sluice\.io/match-(headers|query): "(.*)"$`)

// TestValuesStayRefused does it for headers and parameters, whose names are in any case.
func TestValuesStayRefused(t *testing.T) {
	t.Parallel()
	replaced := 0
	for _, test := range byValue {
		advice, err := snippets.Read(snippets.Snippet{Text: test.text, Paths: []string{"/"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(advice.Left) > 0 {
			continue
		}
		replaced++
		for _, name := range []string{"X-T", "t", "T"} {
			for _, value := range []string{"", "0", "a", "A", "b", "ab", "ba", "a/b", "a%2Fb", "c"} {
				if test.refuses(request{name: name, value: value}) && strings.Contains(test.text, "$arg") == (name != "X-T") && !refusesValue(t, advice.Write[0], request{name: name, value: value}) {
					t.Errorf("%s refuses %s: %q, and %v does not", test.text, name, value, advice.Write)
				}
			}
		}
	}
	if replaced < 8 {
		t.Errorf("only %d snippets have a replacement", replaced)
	}
}

// refusesValue reports whether an annotation refuses a request with a header or parameter.
func refusesValue(t *testing.T, a snippets.Annotation, r request) bool {
	t.Helper()
	if in := copied.FindStringSubmatch(a.Where); in != nil {
		return a.Name == snippets.OwnPrefix+"deny-paths" && a.Value == "/*" && taken(t, in[1], in[2], r)
	}
	kind, ok := strings.CutPrefix(a.Name, snippets.OwnPrefix+"match-")
	return ok && strings.Contains(a.Also, "refuses the other requests") && !taken(t, kind, a.Value, r)
}

// taken reports whether an Ingress with a match takes a request.
func taken(t *testing.T, kind, line string, r request) bool {
	t.Helper()
	var headers keys.HeaderMatches
	var query keys.QueryMatches
	err := headers.UnmarshalText([]byte(line))
	list := headers
	if kind == "query" {
		err = query.UnmarshalText([]byte(line))
		list = keys.HeaderMatches(query)
	}
	if err != nil || len(list) != 1 {
		t.Fatalf("%q: %v", line, err)
	}
	one := list[0]
	value := strings.ReplaceAll(r.value, "%2F", "/")
	same := one.Name == r.name
	if kind == "headers" {
		value, same = r.value, strings.EqualFold(one.Name, r.name)
	}
	if one.Pattern {
		return same && value != "" && regexp.MustCompile("^(?:"+one.Value+")$").MatchString(value)
	}
	return same && value == one.Value
}
