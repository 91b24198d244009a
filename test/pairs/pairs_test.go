// Package pairs puts each two behaviours together, on one Ingress and on two Ingresses of one host, and
// wants each to do what it does alone.
package pairs

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/test/effects"
	"sluice/test/kit"
)

// The shapes of a host: both effects on the path /a, or one on /a and one on /b.
const (
	together = "one"
	apart    = "two"
)

// parts is the number of nginx that serve all pairs, one after another.
const parts = 2

// pair is two effects on one host.
type pair struct {
	shape         string
	first, second *effects.Effect
}

// name is that of its Ingress.
func (p pair) name() string { return p.shape + "-" + p.first.Name + "-" + p.second.Name }

// of names an effect of the pair, with the other one.
func (p pair) of(e *effects.Effect) string {
	other := p.first
	if e == other {
		other = p.second
	}
	if p.shape == together {
		return e.Name + " with " + other.Name
	}
	return e.Name + " beside " + other.Name
}

func (p pair) host() string { return p.name() + ".example" }

// manifests are the Ingresses of the host.
func (p pair) manifests() string {
	name := p.name()
	if p.shape == together {
		return effects.Ingress(name, p.host(), "/a", p.first, p.second) + effects.Ingress(name+"-plain", p.host(), "/b")
	}
	return effects.Ingress(name, p.host(), "/a", p.first) + effects.Ingress(name+"-b", p.host(), "/b", p.second)
}

// aloneHost has the effect only; plainHost has none.
func aloneHost(e *effects.Effect) string { return "alone." + e.Name + ".example" }

const plainHost = "plain.example"

// pairsOf returns the pairs of a part. The first Ingress of a host counts as the older one: which of
// two effects it has differs between the nginx.
func pairsOf(all []*effects.Effect, turned int, part int) (found []pair) {
	for i, first := range all {
		for j, second := range all[:i] {
			if (i+j)%parts != part {
				continue
			}
			if (i+j/parts)%2 == turned%2 {
				found = append(found, pair{apart, first, second})
			} else {
				found = append(found, pair{apart, second, first})
			}
			if !slices.ContainsFunc(first.Keys(), func(key string) bool { return slices.Contains(second.Keys(), key) }) {
				found = append(found, pair{together, first, second})
			}
		}
	}
	return found
}

// world is an nginx that serves the pairs of a part, and each effect alone.
type world struct {
	*kit.Served
	effects []*effects.Effect
	pairs   []pair
	// onA and onB ask the two paths of each host.
	onA, onB *effects.Client
	// servers are the server blocks by each of their names.
	servers map[string]string
	alone   answers
}

func start(t *testing.T, installed kit.Nginx, turned, part int) *world {
	t.Helper()
	all, _ := effects.Of(installed)
	w := &world{effects: all, pairs: pairsOf(all, turned, part)}
	var manifests strings.Builder
	manifests.WriteString(effects.Objects + effects.Ingress("plain", plainHost, "/a") + effects.Ingress("plain-b", plainHost, "/b"))
	for _, e := range all {
		manifests.WriteString(effects.Ingress("alone-"+e.Name, aloneHost(e), "/a", e) + effects.Ingress("alone-"+e.Name+"-plain", aloneHost(e), "/b"))
	}
	for _, p := range w.pairs {
		manifests.WriteString(p.manifests())
	}
	w.Served = installed.Serve(t, manifests.String(), effects.Endpoints(t))
	w.servers = serversOf(w.Conf)
	client := func(path string) *effects.Client {
		return &effects.Client{Port: w.Environment.HTTPPort, SecurePort: w.Environment.HTTPSPort, Path: path}
	}
	w.onA, w.onB = client("/a"), client("/b")
	return w
}

// told is a Problem that says that an effect does not hold on a host, or the path of its Ingress; ""
// if there is none.
func (w *world) told(p pair, e *effects.Effect) string {
	for _, problem := range w.Problems {
		if strings.HasPrefix(problem.Object.Name, p.name()) && (strings.HasPrefix(problem.Field, "spec.rules[0].http.paths[0]") ||
			slices.ContainsFunc(e.Keys(), func(key string) bool { return strings.HasSuffix(problem.Field, key) })) {
			return problem.String()
		}
	}
	return ""
}

// TestPairs: each two behaviours with valid values do together what each does alone.
func TestPairs(t *testing.T) {
	t.Parallel()
	for turned, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			for part := range parts {
				t.Run(fmt.Sprint(part), func(t *testing.T) {
					w := start(t, installed, turned, part)
					w.checkAlone(t)
					w.checkPairs(t)
				})
			}
		})
	}
}

// checkAlone wants each effect to show.
func (w *world) checkAlone(t *testing.T) {
	t.Helper()
	for _, problem := range w.Problems {
		if strings.HasPrefix(problem.Object.Name, "alone-") {
			t.Errorf("the table has a value that is not valid: %v", problem)
		}
	}
	for _, e := range w.effects {
		shows := len(e.Lines) > 0
		for _, probe := range e.Probes {
			shows = shows || probe.See(w.onA.Ask(t, aloneHost(e), probe)) != probe.See(w.onA.Ask(t, plainHost, probe))
		}
		if !shows && !e.Silent {
			t.Errorf("%s does nothing that its probes show", e.Name)
		}
	}
}

// checkPairs asks for all pairs, several at a time.
func (w *world) checkPairs(t *testing.T) {
	t.Helper()
	const clients = 4
	kit.Each(w.pairs, clients, func(p pair) {
		w.check(t, p, p.first, p.second, w.onA)
		if p.shape == apart {
			w.check(t, p, p.second, &effects.Effect{Over: p.first.Over}, w.onB)
		} else {
			w.check(t, p, p.second, p.first, w.onA)
		}
	})
}

// check wants an effect to do what it does alone, beside another one that requests have to pass.
func (w *world) check(t *testing.T, p pair, e, beside *effects.Effect, client *effects.Client) {
	if hidden(e, beside) {
		return
	}
	name := fmt.Sprintf("%s of %s", e.Name, p.name())
	switch problem, reason := w.told(p, e), excused[p.of(e)]; {
	case problem != "" && reason == "":
		t.Errorf("%s: want %q among the excused pairs, or no Problem (got %s)", name, p.of(e), problem)
		return
	case problem == "" && reason != "":
		t.Errorf("%s: no Problem says any more that it does not hold: %s", name, reason)
	case problem != "":
		return
	}
	for n, probe := range e.Probes {
		over := effects.Over(probe, beside, e)
		alone := w.alone.of(e, n, over, func() string {
			probe.Over = over
			return probe.See(w.onA.Ask(t, aloneHost(e), probe))
		})
		probe.Over = over
		if got := probe.See(client.Ask(t, p.host(), probe, beside)); got != alone {
			t.Errorf("%s: %q, alone %q", name, got, alone)
		}
	}
	for _, line := range e.Lines {
		if !strings.Contains(w.servers[p.host()], line) {
			t.Errorf("%s: without the line %s", name, line)
		}
	}
}

// answers are what the probes of the effects see alone, asked once.
type answers struct {
	mu   sync.Mutex
	seen map[string]*answer
}

type answer struct {
	once sync.Once
	text string
}

func (a *answers) of(e *effects.Effect, probe int, over string, ask func() string) string {
	known := a.answer(fmt.Sprint(e.Name, probe, over))
	known.once.Do(func() { known.text = ask() })
	return known.text
}

func (a *answers) answer(key string) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[string]*answer{}
	}
	if a.seen[key] == nil {
		a.seen[key] = &answer{}
	}
	return a.seen[key]
}

const anyLets = "satisfy: any lets pass whom the list, the password or the server that decides lets pass"

// expected are effects that another one on the same Ingress changes, with the reason.
var expected = map[[2]string]string{
	{"basic-auth", "sign-in"}:    "nginx takes each 401 to the sign-in page, as with ingress-nginx",
	{"external-auth", "satisfy"}: anyLets,
	{"sign-in", "satisfy"}:       anyLets,
	{"kept-answers", "satisfy"}:  anyLets,
	{"satisfy", "external-auth"}: anyLets,
	{"satisfy", "sign-in"}:       anyLets,
	{"satisfy", "kept-answers"}:  anyLets,
	{"deny-list", "satisfy"}:     anyLets,
	{"caching", "expires"}:       "Cache-Control has what both say, as the golden case caching wants",
	{"limits-by", "limits-dry"}:  "nginx only logs what it would refuse, and clients get no limits",
}

// The reasons of several excused pairs.
const (
	isFastCGI       = "FastCGI has no such directive"
	isGRPC          = "gRPC has no such directive"
	noPatterns      = "a rule that asks for headers wants a host without patterns, and the other effect makes patterns of paths"
	chosenOtherwise = "the other effect chooses the endpoint"
)

// excused are the effects of pairs of which a Problem says that they do not hold, with the reason:
// on one Ingress (with), or on the other path of the host (beside).
var excused = map[string]string{
	"answer-rewrites with fastcgi":   isFastCGI,
	"answer-rewrites with grpc":      isGRPC,
	"balancing with affinity":        chosenOtherwise,
	"balancing with hash":            chosenOtherwise,
	"buffers with grpc":              "nginx passes on each message of gRPC at once",
	"canary with match":              "a canary shares the requests of a rule without conditions",
	"connection-header with fastcgi": isFastCGI,
	"connection-header with grpc":    isGRPC,
	"cookie-flags with fastcgi":      isFastCGI,
	"cookie-flags with grpc":         isGRPC,
	"fallback-path with grpc":        isGRPC,
	"fallback-path with own-errors":  "it replaces answers of the backend, which the other one keeps",
	"forwarded-prefix beside match":  noPatterns,
	"forwarded-prefix with match":    noPatterns,
	"hash with affinity":             chosenOtherwise,
	"health-check with hash":         chosenOtherwise,
	"http-version with fastcgi":      isFastCGI,
	"http-version with grpc":         isGRPC,
	"match beside forwarded-prefix":  noPatterns,
	"match beside rewrite":           noPatterns,
	"match with canary":              "a canary shares the requests of a rule without conditions",
	"match with forwarded-prefix":    noPatterns,
	"match with rewrite":             noPatterns,
	"permanent-redirect with canary": "a path that redirects passes no requests that a canary could share",
	"rewrite beside match":           noPatterns,
	"rewrite with match":             noPatterns,
	"temporal-redirect with canary":  "a path that redirects passes no requests that a canary could share",
}

// hidden reports whether an effect cannot show on the same Ingress as another one, which answers
// before it, or is expected to change it.
func hidden(e, beside *effects.Effect) bool {
	return beside.Ends && !e.Redirected || expected[[2]string{e.Name, beside.Name}] != ""
}

// serversOf returns the server blocks of a configuration by each of their names. Directives for other
// protocols have the names of those for HTTP.
func serversOf(conf string) map[string]string {
	found := map[string]string{}
	conf = strings.NewReplacer("fastcgi_", "proxy_", "grpc_", "proxy_", "ssl_server_name", "ssl_sni").Replace(conf)
	for _, text := range strings.Split(conf, "server_name ")[1:] {
		names, rest, _ := strings.Cut(text, ";")
		block, _, _ := strings.Cut(rest, "\n}\n")
		for name := range strings.FieldsSeq(names) {
			found[name] += block
		}
	}
	return found
}
