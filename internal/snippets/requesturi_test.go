package snippets_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/internal/snippets"
)

// sent are the path of a request as sent, and as nginx decodes it.
type sent struct{ raw, path string }

var sentPaths = []sent{
	{"/admin", "/admin"}, {"/admin?x", "/admin"}, {"/admin/../pub", "/pub"}, {"/admin%2f..%2fpub", "/pub"},
	{"/admin/", "/admin/"}, {"/admin//x", "/admin/x"}, {"/x/../admin", "/admin"}, {"/a%2Fb", "/a/b"}, {"//a", "/a"}, {"/./a", "/a"}, {"/a", "/a"},
}

// TestRequestURIStaysRefused: $request_uri is as sent, and deny-paths looks at the decoded
// path, so that few conditions about one can be lines of the other.
func TestRequestURIStaysRefused(t *testing.T) {
	t.Parallel()
	replaced := 0
	for condition, refused := range map[string]string{
		"~ ^/admin": "^/admin", `~ "^/admin"`: "^/admin", "~* ^/admin": "(?i)^/admin", "~ ^/admin/": "^/admin/", "~ ^/(admin|a)": "^/(admin|a)", "~ ^/admin|a$": "^/admin|a$",
		"~ ^/(admin|a)$": "^/(admin|a)$", "~ ^/admin$": "^/admin$", "= /admin": "^/admin$", "= /admin/": "^/admin/$", "= /a%2Fb": "^/a%2Fb$", "= //a": "^//a$", "= /./a": "^/\\./a$",
		"= /admin/../pub": "^/admin/\\.\\./pub$", "~ ^//a$": "^//a$",
	} {
		for _, block := range []string{"return 403;", "return 444;", "add_header X y; return 403;"} {
			text := "if ($request_uri " + condition + ") { " + block + " }"
			advice, err := snippets.Read(snippets.Snippet{Text: text, Paths: []string{"/"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(advice.Left) > 0 && !slices.ContainsFunc(advice.Write, func(a snippets.Annotation) bool { return strings.HasSuffix(a.Name, "deny-paths") }) {
				continue
			}
			replaced++
			for _, s := range sentPaths {
				if regexp.MustCompile(refused).MatchString(s.raw) && !slices.ContainsFunc(advice.Write, func(a snippets.Annotation) bool { return refusesPath(t, a, s.path) }) {
					t.Errorf("%s refuses %s, and %v does not", text, s.raw, advice.Write)
				}
			}
		}
	}
	if replaced < 3 {
		t.Errorf("only %d snippets have a replacement", replaced)
	}
}
