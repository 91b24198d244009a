package translate

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/route"
)

// The rows of the path table of the Ingress v1 enhancement proposal.
func TestProposalsPathTable(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		paths         string
		request, want string
	}{
		{"/foo E a", "/foo", "= /foo -> a"},
		{"/foo E a", "/bar", "/ -> 404"},
		{"/ P a", "/any/path", "^~ / -> a"},
		{"/aaa/bbb P a", "/aaa/bbb", "= /aaa/bbb -> a"},
		{"/aaa/bbb/ P a", "/aaa/bbb", "= /aaa/bbb -> a"},
		{"/aaa/bbb P a", "/aaa/bbb/", "^~ /aaa/bbb/ -> a"},
		{"/aaa/bbb P a", "/aaa/bbb/ccc", "^~ /aaa/bbb/ -> a"},
		{"/aaa/bbb P a", "/aaa/bbbxyz", "/ -> 404"},
		{"/ P a,/aaa P b,/aaa/bbb P c", "/aaa/ccc", "^~ /aaa/ -> b"},
		{"/ P a,/aaa P b,/aaa/bbb P c", "/aaa/bbb", "= /aaa/bbb -> c"},
		{"/ P a,/aaa P b,/aaa/bbb P c", "/ccc", "^~ / -> a"},
		{"/aaa P a", "/ccc", "/ -> 404"},
		{"/foo P a,/foo E b", "/foo", "= /foo -> b"},
	} {
		i := ing{name: "i"}
		for path := range strings.SplitSeq(row.paths, ",") {
			i.rules = append(i.rules, "h.example "+path+":80")
		}
		world{ingresses: []ing{i}}.check(t, []string{"h.example" + row.request, row.want}, nil)
	}
}

// The host examples of the same proposal, and names of both a precise and a wildcard
// host.
func TestProposalsHosts(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{{name: "i", rules: []string{"*.foo.com / P a:80", "one.foo.com /c P b:80", "*.deep.foo.com / P d:80", "* /any P c:80"}}}}
	config := w.check(t, []string{
		"bar.foo.com/", "^~ / -> a",
		"BAR.foo.com:8080/", "^~ / -> a",
		"aaa.bbb.foo.com/", "/ -> 404",
		"aaa.bbb.foo.com/any/x", "^~ /any/ -> c",
		"x.deep.foo.com/", "^~ / -> d",
		"foo.com/", "/ -> 404",
		"one.foo.com/c", "= /c -> b",
		"one.foo.com/", "/ -> 404",
		"other.example/any/x", "^~ /any/ -> c",
		"/any", "= /any -> c",
	}, nil)
	var hosts []string
	for _, s := range config.Static.Servers {
		hosts = append(hosts, s.Host)
	}
	if got := strings.Join(hosts, " "); got != " *.deep.foo.com *.foo.com one.foo.com" {
		t.Errorf("servers are %q", got)
	}
}

func TestLiteralPaths(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules    []string
		answers  []string
		problems []string
	}{
		"decoded once": {
			[]string{"h /caf%C3%A9 E a:80", "h /a%20b P b:80", "h /c%2fd P c:80", "h /100%2525 E d:80"},
			[]string{"h/caf%C3%A9", "= /café -> a", "h/a%20b/c", "^~ /a b/ -> b", "h/c/d/e", "^~ /c/d/ -> c", "h/100%2525", "= /100%25 -> d"}, nil},
		"escapes that are none, and what no request has": {
			[]string{"h /a% E a:80", "h /a%zz P a:80", "h /a//b P a:80", "h /./a E a:80", "h /a/.. P a:80", "h /a%2f%2e I a:80", "h /a%09 E a:80", "h /a%00 P a:80", "h /ok. E a:80", "h /... P b:80"},
			[]string{"h/ok.", "= /ok. -> a", "h/.../x", "^~ /.../ -> b", "h/b", "/ -> 404"},
			[]string{
				"InvalidValue Ingress default/i spec.rules[0].http.paths[0].path", "InvalidValue Ingress default/i spec.rules[1].http.paths[0].path",
				"InvalidValue Ingress default/i spec.rules[2].http.paths[0].path", "InvalidValue Ingress default/i spec.rules[3].http.paths[0].path",
				"InvalidValue Ingress default/i spec.rules[4].http.paths[0].path", "InvalidValue Ingress default/i spec.rules[5].http.paths[0].path",
				"InvalidValue Ingress default/i spec.rules[6].http.paths[0].path", "InvalidValue Ingress default/i spec.rules[7].http.paths[0].path",
			}},
		"shadows": {
			[]string{"h /foo/ E a:80", "h /x P b:80", "h /x/y/ E c:80", "h /x/y/z/ E d:80", "g /foo/ E a:80", "g / P b:80"},
			[]string{"h/foo/", "= /foo/ -> a", "h/foo", "/foo -> 404", "h/foobar", "/foo -> 404", "h/x/y", "^~ /x/y -> b", "h/x/y/z", "^~ /x/y/z -> b", "h/x/y/zz", "^~ /x/y/z -> b", "h/x/y/", "= /x/y/ -> c", "g/foo", "^~ /foo -> b"}, nil},
		"an Exact path beside the same Prefix": {
			[]string{"h /foo/ E a:80", "h /foo/ P b:80"},
			[]string{"h/foo/", "= /foo/ -> a", "h/foo", "= /foo -> b", "h/foo/x", "^~ /foo/ -> b"}, nil},
		"an empty path": {[]string{"h - I a:80"}, []string{"h/x", "^~ / -> a"}, nil},
		"twice the same in one Ingress changes nothing": {
			[]string{"h /foo P a:80", "h /foo/ P a:80", "h /foo P b:80"},
			[]string{"h/foo", "= /foo -> a"}, []string{"Conflict Ingress default/i spec.rules[2].http.paths[0]"}},
		"a path of 1": {[]string{"h /a P a:80", "h /A P b:80"}, []string{"h/a/x", "^~ /a/ -> a", "h/A", "= /A -> b"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world{ingresses: []ing{{name: "i", rules: test.rules}}}.check(t, test.answers, test.problems)
		})
	}
}

func TestTrailingSlashRedirect(t *testing.T) {
	t.Parallel()
	world{
		config:    map[string]string{"trailing-slash-redirect": "true"},
		ingresses: []ing{{name: "i", rules: []string{"h /foo/ E a:80", "h /bar/ P b:80", "h /baz P c:80"}}},
	}.check(t, []string{"h/foo", "redirect a", "h/bar", "redirect b", "h/baz", "= /baz -> c"}, nil)
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{
		{name: "newer", age: 1, rules: []string{"h /same P b:80", "h /slash/ I b:80", "h /own P b:80", "h /same E b:80"}},
		{name: "older", age: 2, rules: []string{"h /same P a:80", "h /slash P a:80"}},
		{name: "twin-a", rules: []string{"h /twin E a:80"}},
		{name: "twin-b", rules: []string{"h /twin E b:80"}},
	}}
	w.check(t, []string{
		"h/same/", "^~ /same/ -> a", "h/same", "= /same -> b", "h/slash", "= /slash -> a", "h/own", "= /own -> b", "h/twin", "= /twin -> b",
	}, []string{
		"Conflict Ingress default/newer spec.rules[0].http.paths[0]", "Conflict Ingress default/newer spec.rules[1].http.paths[0]",
		"Conflict Ingress default/twin-a spec.rules[0].http.paths[0]",
	})
	_, problems := Config(newSnapshot(t, w.objects(t)), w.flags(), nil)
	if want := `Ingress default/older already has Prefix /same of host "h" with its spec.rules[0].http.paths[0], and the oldest counts`; problems[0].Text != want {
		t.Errorf("got %s\nwant %s", problems[0].Text, want)
	}
	if !strings.HasSuffix(problems[2].Text, "of two of the same age the one whose name sorts last counts") {
		t.Error(problems[2].Text)
	}
}

// Values that no manifest may contain get a Problem too.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	hostile := []string{"/a\r\nb", "/a\x00", "/a\tb", "relative", "", "/a\x7f", "/ok"}
	for _, test := range []struct {
		pathType    networkingv1.PathType
		annotations map[string]string
		served      int
	}{
		{networkingv1.PathTypeExact, nil, 1},
		{networkingv1.PathTypePrefix, nil, 1},
		{networkingv1.PathTypeImplementationSpecific, nil, 2}, // "" is "/"
		{networkingv1.PathTypePrefix, map[string]string{"use-regex": "true"}, 1},
		// A tab in a pattern is a tab.
		{networkingv1.PathTypeImplementationSpecific, map[string]string{"use-regex": "true"}, 4},
		{"Other", nil, 0},
	} {
		w := world{ingresses: []ing{{name: "i", rules: []string{"h /x E a:80"}, annotations: test.annotations}, {name: "neighbour", rules: []string{"h /n E b:80"}}}}
		objects := w.objects(t)
		setPaths(objects.Ingresses[0], test.pathType, hostile...)
		config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
		if len(problems) != len(hostile)-test.served {
			t.Errorf("%s %v: got %d problems: %v", test.pathType, test.annotations, len(problems), problems)
		}
		for _, l := range serverNamed(t, config, "h").Locations {
			if strings.ContainsAny(l.Path, "\r\n\x00") {
				t.Errorf("a location is %q", l.Path)
			}
		}
		if got := ask(config, "h/n"); !strings.HasSuffix(got, "-> b") {
			t.Errorf("the neighbour is answered with %s", got)
		}
	}
}

// No two locations have the same modifier and path, which nginx would refuse, and they
// are in the order of route.Sort.
func TestLocationsAreSortedAndUnique(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{{name: "i", rules: []string{"h / P a:80", "h / E b:80", "h /foo P a:80", "h /foo E b:80", "h /foo/ E c:80", "h /foo/ P d:80", "h /bar/ E a:80", "h /bar/x/ E a:80", "h /bar/x P a:80"}}}}
	config, _ := w.translate(t)
	locations := serverNamed(t, config, "h").Locations
	seen := map[string]bool{}
	for _, l := range locations {
		kind := "prefix "
		if l.Modifier == model.Equal {
			kind = "exact "
		}
		if seen[kind+l.Path] {
			t.Errorf("%s%s twice", kind, l.Path)
		}
		seen[kind+l.Path] = true
	}
	sorted := append([]*model.Location(nil), locations...)
	route.Sort(sorted)
	for i := range sorted {
		if sorted[i] != locations[i] {
			t.Fatal("not sorted")
		}
	}
}

func TestWrongHosts(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"UPPER.example", "10.0.0.1", "a_b", "a.*.b", "*", "**.a", "*a.b", "a b", "a\";", strings.Repeat("a", 254), "::1", "a..b"} {
		w := world{ingresses: []ing{{name: "i", rules: []string{"h /x E a:80", "ok /y E b:80"}}}}
		objects := w.objects(t)
		objects.Ingresses[0].Spec.Rules[0].Host = host
		config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
		if len(problems) != 1 || problems[0].Field != "spec.rules[0].host" || problems[0].Reason != model.InvalidValue {
			t.Errorf("%q: %v", host, problems)
		}
		if len(config.Static.Servers) != 2 || ask(config, "ok/y") != "= /y -> b" {
			t.Errorf("%q: the neighbour is answered with %s", host, ask(config, "ok/y"))
		}
	}
}

// No path of an Ingress is below the prefix of internal locations: two equal locations
// would break its server.
func TestPathsOfInternalLocationsAreReserved(t *testing.T) {
	t.Parallel()
	config, problems := world{ingresses: []ing{{name: "i", rules: []string{"h /.sluice/auth-1 E a:80", "h /%2esluice P a:80", "h /.sluices P a:80"}}}}.translate(t)
	for _, l := range serverNamed(t, config, "h").Locations {
		if strings.HasPrefix(l.Path+"/", model.InternalPrefix) {
			t.Errorf("%s is there", l.Path)
		}
	}
	if got := ask(config, "h/.sluices/x"); len(problems) != 2 || got != "^~ /.sluices/ -> a" {
		t.Errorf("got %s with %v", got, problems)
	}
}
