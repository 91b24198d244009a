// Package pairs puts each two behaviours together, on one Ingress and on two Ingresses of one host, and
// wants each to do what it does alone.
package pairs

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/internal/model"
	"sluice/test/effects"
	"sluice/test/kit"
)

// The shapes of a host: both effects on the path /a, or one on /a and one on /b.
const (
	together = "one"
	apart    = "two"
)

// parts is the number of nginx that serve all pairs.
const parts = 4

// pair is a host on which the first effect has to do what it does alone.
type pair struct {
	shape       string
	first, with *effects.Effect
}

// name is that of its Ingress; two effects on one Ingress are two pairs with one name.
func (p pair) name() string {
	if p.shape == together && p.first.Name > p.with.Name {
		return p.shape + "-" + p.with.Name + "-" + p.first.Name
	}
	return p.shape + "-" + p.first.Name + "-" + p.with.Name
}

func (p pair) host() string { return p.name() + ".example" }

// manifests are the Ingresses of the host.
func (p pair) manifests() string {
	name := p.name()
	if p.shape == together {
		return effects.Ingress(name, p.host(), "/a", p.first, p.with) + effects.Ingress(name+"-plain", p.host(), "/b")
	}
	return effects.Ingress(name, p.host(), "/a", p.first) + effects.Ingress(name+"-b", p.host(), "/b", p.with)
}

// aloneHost has the effect only; plainHost has none.
func aloneHost(e *effects.Effect) string { return "alone." + e.Name + ".example" }

const plainHost = "plain.example"

// pairsOf returns the pairs of a part.
func pairsOf(part int) (found []pair) {
	all := effects.All()
	for i, first := range all {
		for j, with := range all {
			if i == j || (i+j)%parts != part {
				continue
			}
			found = append(found, pair{apart, first, with})
			if !slices.ContainsFunc(first.Keys(), func(key string) bool { return slices.Contains(with.Keys(), key) }) {
				found = append(found, pair{together, first, with})
			}
		}
	}
	return found
}

// world is an nginx that serves the pairs of a part, and each effect alone.
type world struct {
	*kit.Served
	client *effects.Client
	pairs  []pair
}

func start(t *testing.T, installed kit.Nginx, part int) *world {
	t.Helper()
	w := &world{pairs: pairsOf(part)}
	manifests := effects.Objects + effects.Ingress("plain", plainHost, "/a") + effects.Ingress("plain-b", plainHost, "/b")
	for _, e := range effects.All() {
		manifests += effects.Ingress("alone-"+e.Name, aloneHost(e), "/a", e) + effects.Ingress("alone-"+e.Name+"-plain", aloneHost(e), "/b")
	}
	for _, p := range w.pairs {
		if p.shape == apart || p.first.Name < p.with.Name {
			manifests += p.manifests()
		}
	}
	w.Served = installed.Serve(t, manifests, effects.Endpoints(t))
	w.client = &effects.Client{Port: w.Environment.HTTPPort, Path: "/a"}
	return w
}

// told reports whether a Problem says that the effect of a host's Ingress does not hold, or its path.
func (w *world) told(p pair) bool {
	return slices.ContainsFunc(w.Problems, func(problem model.Problem) bool {
		return strings.HasPrefix(problem.Object.Name, p.name()) && (strings.HasPrefix(problem.Field, "spec.rules[0].http.paths[0]") ||
			slices.ContainsFunc(p.first.Keys(), func(key string) bool { return strings.HasSuffix(problem.Field, key) }))
	})
}

// TestPairs: each two behaviours with valid values do together what each does alone.
func TestPairs(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			for part := range parts {
				t.Run(fmt.Sprint(part), func(t *testing.T) {
					w := start(t, installed, part)
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
	for _, e := range effects.All() {
		shows := len(e.Lines) > 0
		for _, probe := range e.Probes {
			shows = shows || probe.See(w.client.Ask(t, aloneHost(e), probe)) != probe.See(w.client.Ask(t, plainHost, probe))
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
	var group sync.WaitGroup
	next := make(chan pair)
	for range clients {
		group.Go(func() {
			for p := range next {
				for _, fault := range w.faults(t, p) {
					t.Errorf("%s %s beside %s: %s", p.shape, p.first.Name, p.with.Name, fault)
				}
			}
		})
	}
	for _, p := range w.pairs {
		next <- p
	}
	close(next)
	group.Wait()
}

// faults lists what the first effect of a pair does not do as it does it alone.
func (w *world) faults(t *testing.T, p pair) (faults []string) {
	if hidden(p) {
		return nil
	}
	if w.told(p) {
		t.Logf("%s %s beside %s: a Problem says what does not hold", p.shape, p.first.Name, p.with.Name)
		return nil
	}
	host := p.host()
	for _, probe := range p.first.Probes {
		alone := probe.See(w.client.Ask(t, aloneHost(p.first), probe))
		if got := probe.See(w.client.Ask(t, host, probe, p.with)); got != alone {
			faults = append(faults, fmt.Sprintf("%q, alone %q", got, alone))
		}
	}
	server := strings.NewReplacer("fastcgi_", "proxy_", "grpc_", "proxy_").Replace(w.serverOf(host))
	for _, line := range p.first.Lines {
		if !strings.Contains(server, line) {
			faults = append(faults, "without the line "+line)
		}
	}
	return faults
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
}

// hidden reports whether the other effect answers before the first one can show, or is expected to
// change it.
func hidden(p pair) bool {
	return p.shape == together && (p.with.Ends && !p.first.Redirected || expected[[2]string{p.first.Name, p.with.Name}] != "")
}

// serverOf returns the server block of a host.
func (w *world) serverOf(host string) string {
	_, text, _ := strings.Cut(strings.ReplaceAll(w.Conf, "server_name "+host+" ", "server_name "+host+";"), "server_name "+host+";")
	server, _, _ := strings.Cut(text, "\n}\n")
	return server
}
