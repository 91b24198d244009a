package translate

import (
	"strings"
	"testing"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// onlyPath is the setting with which only paths of asking Ingresses are patterns.
var onlyPath = map[string]string{"regex-scope": "path"}

func regex() map[string]string { return map[string]string{"use-regex": "true"} }

func rewriteTo(target string) map[string]string { return map[string]string{"rewrite-target": target} }

// The examples of ingress-nginx's page on path matching.
func TestPathMatchingPage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ingresses []ing
		answers   []string
	}{
		"regular expression support": {
			[]ing{{name: "test-ingress", annotations: regex(), rules: []string{"test.com /foo/.* I a:80"}}},
			[]string{"test.com/foo/x", "~* ^/foo/.* -> a", "test.com/FOO/x", "~* ^/foo/.* -> a", "test.com/foo", "/ -> 404"}},
		"path priority": {
			[]ing{
				{name: "test-ingress-1", rules: []string{"test.com /foo/bar I a:80", "test.com /foo/bar/ I b:80"}},
				{name: "test-ingress-2", annotations: rewriteTo("/"), rules: []string{"test.com /foo/bar/.+ I c:80"}}},
			[]string{"test.com/foo/bar/1", "~* ^/foo/bar/.+ -> c as / for (?i)/foo/bar/.+", "test.com/foo/bar/", "~* ^/foo/bar/ -> b", "test.com/foo/bar", "~* ^/foo/bar -> a"}},
		"warning": {
			[]ing{{name: "test-ingress-3", annotations: regex(), rules: []string{"test.com /foo/bar/bar I a:80", "test.com /foo/bar/[A-Z0-9]{3} I b:80"}}},
			[]string{"test.com/foo/bar/bar", "~* ^/foo/bar/[A-Z0-9]{3} -> b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world{ingresses: test.ingresses}.check(t, test.answers, nil)
		})
	}
}

// An Ingress turns every path of its host, and of no other host.
func TestHostScope(t *testing.T) {
	t.Parallel()
	world{ingresses: []ing{
		{name: "one", annotations: regex(), rules: []string{"h /api/v[0-9]+ I a:80", "h2 /x P a:80"}},
		{name: "two", rules: []string{"h /api P b:80", "h / P c:80", "h /exact E d:80", "h /exact P e:80", "h /a(b P a:80", "h /c++ E b:80", "h /p%28q%29 P c:80", "h /(?<route>x) P d:80", "h3 /a.c P a:80"}},
	}}.check(t, []string{
		"h/api/v1/x", "~* ^/api/v[0-9]+ -> a",
		"h/API", "~* ^/api -> b",
		"h/apix", "~* ^/api -> b",
		"h/exactly", "~* ^/exact -> d",
		"h/other", "~* ^/ -> c",
		"h/a(b", `~* ^/a\(b -> a`,
		"h/cc", `~* ^/c++ -> b`,
		"h/p(q)", `~* ^/p\(q\) -> c`,
		"h/x", `~* ^/(x) -> d`,
		"h2/xyz", "~* ^/x -> a",
		"h3/abc", "/ -> 404",
	}, []string{"Conflict Ingress default/two spec.rules[3].http.paths[0]"})
}

// The rows of the recorded answers rewrite-*.
func TestRewrites(t *testing.T) {
	t.Parallel()
	world{ingresses: []ing{
		{name: "simple", annotations: rewriteTo("/"), rules: []string{"simple /foo P a:80"}},
		{name: "captures", annotations: rewriteTo("/$2"), rules: []string{"captures /something(/|$)(.*) I a:80"}},
		{name: "same", annotations: rewriteTo("/"), rules: []string{"same / P a:80"}},
		{name: "equal", annotations: rewriteTo("/foo"), rules: []string{"equal /foo P a:80"}},
		{name: "root-elsewhere", rules: []string{"equal2 / P b:80"}},
		{name: "equal2", annotations: rewriteTo("/foo"), rules: []string{"equal2 /foo P a:80"}},
		{name: "forged", annotations: rewriteTo("/$p_other"), rules: []string{"forged /x(.*) I a:80"}},
		{name: "named", annotations: rewriteTo("/$id/$1"), rules: []string{"named /item/(?<id>[0-9]+) I a:80"}},
	}}.check(t, []string{
		"simple/foo", "~* ^/foo -> a as / for (?i)/foo",
		"simple/foobar", "~* ^/foo -> a as / for (?i)/foo",
		"simple/other", "/ -> 404",
		"captures/something/x", "~* ^/something(/|$)(.*) -> a as /$2 for (?i)/something(/|$)(.*)",
		"captures/somethingelse", "/ -> 404",
		"same/x", "^~ / -> a",
		"equal/foobar", "~* ^/foo -> a as /foo for (?i)/foo/", // nothing to rewrite; its fallback is rewritten, which makes it a host of patterns
		"equal2/foobar", "^~ / -> b",
		"equal2/foo/", "^~ /foo/ -> a as /foo for (?i)/foo/",
		"forged/x", "~* ^/x(.*) -> a",
		"named/item/12", "~* ^/item/([0-9]+) -> a as /$p_id/$1 for (?i)/item/(?<p_id>[0-9]+)",
	}, []string{"InvalidValue Ingress default/forged rewrite-target"})
}

// An invalid rewrite turns no host, as in ingress-nginx: only the paths of its own Ingress stay
// patterns.
func TestBadRewriteTurnsNoHost(t *testing.T) {
	t.Parallel()
	const bad = "InvalidValue Ingress default/i rewrite-target"
	for target, want := range map[string][2][]string{
		"/$2":     {{"h/foobar", "~* ^/foo -> b", "h/FOO", "~* ^/foo -> b"}, nil},
		"/$2?a=b": {{"h/foobar", "/ -> 404", "h/FOO", "/ -> 404"}, {bad}},
	} {
		config := world{ingresses: []ing{
			{name: "i", annotations: rewriteTo(target), rules: []string{"h /a(/|$)(.*) I a:80"}},
			{name: "neighbour", rules: []string{"h /foo P b:80"}},
		}}.check(t, want[0], want[1])
		if got := ask(config, "h/a/x"); !strings.HasPrefix(got, "~* ^/a(/|$)(.*) -> a") {
			t.Errorf("%s: got %s", target, got)
		}
	}
}

// The implicit fallback of a host is rewritten as in the recorded answers.
func TestFallbackIsRewritten(t *testing.T) {
	t.Parallel()
	world{
		options:   func(o *Options) { o.DefaultBackend = snapshot.Name{Namespace: "default", Name: "e"} },
		ingresses: []ing{{name: "i", annotations: rewriteTo("/new"), rules: []string{"h /foo P a:80"}}},
	}.check(t, []string{"h/other", "/ -> e as /new for (?i)/"}, nil)
}

// The precedence of Istio, with its example.
func TestPathScope(t *testing.T) {
	t.Parallel()
	world{config: onlyPath, ingresses: []ing{
		{name: "plain", age: 2, rules: []string{"h /api/v1/ P a:80", "h /api/v1/hooks/github/callback E b:80", "h /a.c E c:80", "h /like I d:80"}},
		{name: "patterns", annotations: regex(), rules: []string{"h /api/v1/hooks/.*/callback I e:80", "h /x[0-9]/ I e:80", "h /x[0-9]/.*/long I d:80", "h /pre(.*) P e:80", "h /ex(.*) E e:80", "h /foo/ E c:80", "h /fo[o] I b:80"}},
		{name: "idiom", annotations: rewriteTo("/$2"), rules: []string{"g /app(/|$)(.*) I a:80", "g /lit(eral P c:80"}},
		{name: "over", rules: []string{"g /app P b:80"}},
		{name: "all", rules: []string{"f / P b:80"}},
		{name: "covered", annotations: regex(), rules: []string{"f /(?=x) I a:80"}},
		{name: "not-root", annotations: regex(), rules: []string{"e / I a:80", "e /foo/ E b:80"}},
	}}.check(t, []string{
		"h/api/v1/hooks/github/callback", "= /api/v1/hooks/github/callback -> b",
		"h/api/v1/hooks/gitlab/callback", "^~ /api/v1/ -> a",
		"h/x1/", "~* ^/x[0-9]/ -> e",
		"h/x1/2/long", "~* ^/x[0-9]/.*/long -> d",
		"h/abc", "/ -> 404",
		"h/like/x", "^~ /like/ -> d",
		"h/likely", "/ -> 404",
		"h/pre(.*)/x", "^~ /pre(.*)/ -> e",
		"h/ex(.*)", "= /ex(.*) -> e",
		"h/foo", "~* ^/fo[o] -> b", // the shadow of /foo/ leaves it its chance
		"g/app/x", "^~ /app/ -> b",
		"g/lit(eral", `= /lit(eral -> c as /$2 for (?i)/lit\(eral`,
		"e/x", "~* ^/ -> a",
		"e/foo", "~* ^/ -> a",
	}, []string{
		"Shadowed Ingress default/covered spec.rules[0].http.paths[0].path",
		"Shadowed Ingress default/idiom spec.rules[0].http.paths[0].path",
		"Shadowed Ingress default/patterns spec.rules[0].http.paths[0].path",
	})
}

// A pattern that sets a variable of Sluice, or whose groups cannot be read, never
// reaches nginx.conf, and changes no neighbour. Whether another one compiles is up to
// nginx, so that its Ingress keeps its last good form.
func TestHostilePatterns(t *testing.T) {
	t.Parallel()
	refused := []string{"/[a", "/(?&x)", "/(*ACCEPT)", `/\c[(?<route>x)]`, "/(?<a>x)(?<a>y)"}
	i := ing{name: "bad", annotations: regex(), rules: []string{"h /(?<route>x) I a:80", "h /(?'backend'y) E a:80", "g /a(b I a:80", "g /b)+* I a:80"}}
	for _, path := range refused {
		i.rules = append(i.rules, "h "+path+" I a:80")
	}
	config, problems := world{ingresses: []ing{i, {name: "good", rules: []string{"h /ok P b:80"}}}}.translate(t)
	if len(problems) != len(refused) {
		t.Errorf("got %v", problems)
	}
	for _, l := range serverNamed(t, config, "h").Locations {
		if strings.Contains(l.Path, "(?<") || strings.Contains(l.Path, "(?'") {
			t.Errorf("%s sets a variable", l.Path)
		}
	}
	for i, want := range []string{"^/b)+*", "^/a(b"} {
		if got := serverNamed(t, config, "g").Locations[1+i].Path; got != want {
			t.Errorf("nginx is given %s, want %s", got, want)
		}
	}
	for url, want := range map[string]string{"h/x": "~* ^/(x) -> a", "h/y": "~* ^/(y) -> a", "h/ok": "~* ^/ok -> b"} {
		if got := ask(config, url); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}

// Equal patterns conflict, whatever their types. A Prefix beside an Exact path keeps what is
// below it.
func TestPatternConflicts(t *testing.T) {
	t.Parallel()
	world{ingresses: []ing{
		{name: "newer", age: 1, annotations: regex(), rules: []string{"h /v[0-9] I b:80", "h /v[0-9] E c:80", "h / I b:80"}},
		{name: "older", age: 2, rules: []string{"h /v[0-9] P a:80", "h / P a:80"}},
	}}.check(t, []string{"h/v1", "~* ^/v[0-9] -> b", "h/v1/x", "~* ^/v[0-9]/ -> a", "h/x", "~* ^/ -> a"},
		[]string{"Conflict Ingress default/newer spec.rules[1].http.paths[0]", "Conflict Ingress default/newer spec.rules[2].http.paths[0]"})
}

// An Ingress that nginx refused is denied. Patterns that may be the refused ones are
// not tried again, and all requests that they could take get 503.
func TestQuarantinedPatternsAreClosed(t *testing.T) {
	t.Parallel()
	config := world{
		options: func(o *Options) {
			o.Denied = map[model.ObjectRef]claim.Denial{{Kind: "Ingress", Namespace: "default", Name: "i"}: claim.DenyPaths}
		},
		ingresses: []ing{
			{name: "i", annotations: map[string]string{"use-regex": "true", "enable-cors": "true"}, rules: []string{"h /a(?=b I a:80", "h /v[0-9] I a:80", "h /b(?<!x)y I a:80"}},
			{name: "other", rules: []string{"h /other P b:80"}},
		},
	}.check(t, []string{
		"h/a(%3F=b", "~* ^/a -> 503", "h/ab", "~* ^/a -> 503", "h/v1", "~* ^/v[0-9] -> 503", "h/other", "~* ^/other -> b", "h/fallback", "/ -> 404",
	}, nil)
	for _, l := range serverNamed(t, config, "h").Locations {
		if l.Return != nil && (len(l.Blocks) > 0 || l.Rewrite != nil || l.RedirectToHTTPS != nil) && l.Return.Code == 503 {
			t.Errorf("%s of a denied Ingress does more than to answer 503", l.Path)
		}
	}
	if got := countStatus(config, 503); got != 3 {
		t.Errorf("%d locations answer 503", got)
	}
}

func countStatus(config model.Config, code int) int {
	count := 0
	for _, s := range config.Static.Servers {
		for _, l := range s.Locations {
			if l.Return != nil && l.Return.Code == code {
				count++
			}
		}
	}
	return count
}
