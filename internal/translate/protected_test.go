package translate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/internal/model"
)

// Whatever Ingresses share a host, every location of a protecting one protects or
// returns 503: written ones, their twins, fallbacks, shadows and misses. No location of
// another one protects.
func TestEveryLocationIsProtected(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 5))
	kinds := map[model.RuleKind]int{}
	for range 150 {
		config, _ := Config(newSnapshot(t, randomWorld(random).objects(t)), world{}.flags(), nil)
		for _, s := range config.Static.Servers {
			locations := s.Locations
			for _, internal := range s.Internal {
				if internal.Modifier == model.Named { // a subrequest is made once its parent was let in
					locations = append(slices.Clone(locations), internal.Location)
				}
			}
			for _, l := range locations {
				if fault := unprotected(l); fault != "" {
					t.Fatalf("host %q, %s %s %q of %s: %s", s.Host, l.Rule.Kind, l.Modifier, l.Path, l.Rule.Object, fault)
				}
				if l.Rule.Object.Name == "listed" {
					kinds[l.Rule.Kind]++
				}
			}
		}
	}
	for _, kind := range []model.RuleKind{model.RuleWritten, model.RuleFallback, model.RuleShadow} {
		if kinds[kind] == 0 {
			t.Errorf("no world had a %s of an Ingress that protects", kind)
		}
	}
}

// unprotected returns the fault of a location in randomWorld.
func unprotected(l *model.Location) string {
	asked := slices.ContainsFunc(l.Blocks, func(b model.Block) bool { return b.Name == "external-auth" })
	listed := slices.ContainsFunc(l.Blocks, func(b model.Block) bool { return b.Name == "allow-list" })
	closed := l.Return != nil && l.Return.Code == 503
	switch l.Rule.Object.Name {
	case "listed":
		if !(listed && asked) && !closed && l.Proxy != nil {
			return "no allow list, or nobody is asked"
		}
	case "broken", "unbuilt":
		if !closed || len(l.Blocks) > 0 || l.RedirectToHTTPS != nil || l.Rewrite != nil {
			return "not only 503"
		}
	default:
		if listed || asked || closed {
			return "its neighbour's protection"
		}
	}
	return ""
}

// randomWorld has Ingresses of any age with any paths on a few hosts: one with an allow
// list and external authentication, one with a broken list, one with an unsupported
// protection, and two without.
func randomWorld(random *rand.Rand) world {
	annotations := map[string]map[string]string{
		"listed":  {"allowlist-source-range": "10.0.0.0/8", "auth-url": "http://auth.example", "enable-cors": "true", "force-ssl-redirect": "true"},
		"broken":  {"allowlist-source-range": "office"},
		"unbuilt": {"auth-snippet": "deny all;"},
		"free":    {}, "open": {"enable-cors": "true"},
	}
	if random.IntN(2) == 0 {
		annotations["open"] = rewriteTo("/$1")
	}
	var w world
	for _, name := range []string{"listed", "broken", "unbuilt", "free", "open"} {
		i := ing{name: name, age: random.IntN(20), annotations: annotations[name]}
		for range 1 + random.IntN(3) {
			pick := func(list ...string) string { return list[random.IntN(len(list))] }
			i.rules = append(i.rules, fmt.Sprintf("%s %s %s a:80", pick("h", "*.h", "*"), pick("/", "/x", "/x/", "/x/y/", "/X", "/x.*"), pick("E", "P", "I")))
		}
		w.ingresses = append(w.ingresses, i)
	}
	return w
}
