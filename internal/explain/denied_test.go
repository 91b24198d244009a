package explain

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/translate"
)

// withSnippets allows snippets.
var withSnippets = scoped("path", `allow-snippet-annotations: "true"`, "annotations-risk-level: Critical")

// TestDeniedPathBesideAServerSnippet: a snippet of the server may answer before a path is
// refused, so no form of the explanation says 403 for sure.
func TestDeniedPathBesideAServerSnippet(t *testing.T) {
	t.Parallel()
	rules := []string{"shop.example / Prefix web"}
	snippet := `server-snippet: "location /admin/x { return 200 open; }"`
	for name, test := range map[string]struct{ manifests, want string }{
		"its own":                   {ingress("a", rules, "sluice.io/deny-paths: /admin/*", snippet), "its server-snippet says something else"},
		"of another Ingress":        {ingress("a", rules, "sluice.io/deny-paths: /admin/*") + ingress("b", []string{"shop.example /b Prefix web"}, snippet), "the server-snippet of Ingress shop/b says something else"},
		"its configuration":         {ingress("a", rules, "sluice.io/deny-paths: /admin/*", `configuration-snippet: "error_page 403 =200 /open;"`), "its configuration-snippet says something else"},
		"a path that is not served": {ingress("a", rules, "whitelist-source-range: nonsense") + ingress("b", []string{"shop.example /b Prefix web"}, snippet), "the server-snippet of Ingress shop/b says something else"},
		"a snippet of another host": {ingress("a", rules, "sluice.io/deny-paths: /admin/*") + ingress("b", []string{"b.example / Prefix web"}, snippet), ""},
	} {
		e := asked(t, inputOf(t, test.manifests+withSnippets, withSettings), "shop.example/admin/x")
		if e.Answer.Kind != ToStatus {
			t.Errorf("%s: want a status, got %s", name, e.Summary)
		}
		if test.want == "" {
			if len(e.Answer.Unless) > 0 || strings.Contains(e.Summary+e.Outcome, "unless") {
				t.Errorf("%s: got %s", name, e.Summary)
			}
			continue
		}
		if !slices.Equal(e.Answer.Unless, []string{test.want}) || !strings.HasSuffix(e.Summary, ", unless "+test.want) || !strings.HasSuffix(e.Outcome, ", unless "+test.want) {
			t.Errorf("%s: got %q, %s\n%s", name, e.Answer.Unless, e.Outcome, e.Summary)
		}
	}
}

// TestDeniedPathWithAnErrorPage: error-status and an error backend answer in place of 403.
func TestDeniedPathWithAnErrorPage(t *testing.T) {
	t.Parallel()
	rules := []string{"shop.example / Prefix web"}
	const line = `sluice.io/deny-paths: the line "/admin/*"`
	for name, test := range map[string]struct{ manifests, want string }{
		"another status": {ingress("a", rules, "sluice.io/deny-paths: /admin/*", `sluice.io/error-status: "403 = 401"`), "401: " + line + "; error-status gives 403 as 401"},
		"another error":  {ingress("a", rules, "sluice.io/deny-paths: /admin/*", `sluice.io/error-status: "404 = 401"`), "403: " + line},
		"nginx's page":   {ingress("a", rules, "sluice.io/deny-paths: /admin/*", `custom-http-errors: "403"`), "403: " + line},
		"a Service":      {ingress("a", rules, "sluice.io/deny-paths: /admin/*", `custom-http-errors: "403"`, "default-backend: abroad"), "403: " + line + "; Service shop/abroad answers in its place, with this status"},
		"no endpoint":    {ingress("a", rules, "sluice.io/deny-paths: /admin/*", `custom-http-errors: "403"`, "default-backend: empty"), "403: " + line},
		"fallback-path":  {ingress("a", rules, "sluice.io/deny-paths: /admin/* 404", `sluice.io/fallback-path: /index.html`), `404: sluice.io/deny-paths: the line "/admin/* 404"`},
	} {
		e := asked(t, inputOf(t, test.manifests, func(o *translate.Options) {}), "shop.example/admin/x")
		if e.Outcome != test.want {
			t.Errorf("%s: got  %s\nwant %s", name, e.Outcome, test.want)
		}
	}
}
