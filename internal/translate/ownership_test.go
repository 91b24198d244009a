package translate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// owners have the hosts of this test; guests are younger and want all of them.
func owners() []ing {
	return []ing{
		{name: "owner/shop", age: 20, rules: []string{"shop.example / P a:80", "shop.example /x E b:80", "*.wild.example / P a:80", "in.below.example / P a:80"}},
		{name: "owner/named", age: 19, annotations: map[string]string{"server-alias": "alias.example, x.below.example"}, rules: []string{"named.example / P b:80"}},
		{name: "owner/all", age: 18, rules: []string{"* / P c:80"}},
		{name: "owner/passed", age: 18, annotations: map[string]string{"ssl-passthrough": "true"}, rules: []string{"passed.example / P c:80"}},
	}
}

func guests(random *rand.Rand) []ing {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	var all []ing
	for i := range 1 + random.IntN(4) {
		g := ing{name: fmt.Sprintf("guest/g%d", i), age: random.IntN(10), annotations: map[string]string{}}
		for key, value := range map[string]string{
			"use-regex": "true", "rewrite-target": "/y", "app-root": "/app", "ssl-passthrough": "true", "whitelist-source-range": "10.0.0.0/8",
			"force-ssl-redirect": "true", "server-alias": pick("shop.example", "alias.example", "*.wild.example", "*.below.example", "y.wild.example", "~^.*$"),
			claim.HostDelegation: "*",
		} {
			if random.IntN(3) == 0 {
				g.annotations[key] = value
			}
		}
		for range 1 + random.IntN(3) {
			g.rules = append(g.rules, pick("shop.example", "*.wild.example", "in.below.example", "named.example", "alias.example", "*.below.example", "*.example", "passed.example", "x.below.example", "*")+" "+
				pick("/ P", "/ E", "/x E", "/x/y P", "/.{0,1000} I", "/.* I")+" d:80")
		}
		if random.IntN(2) == 0 {
			g.tls = []string{"wild " + pick("shop.example", "*.below.example", "*.example")}
		}
		all = append(all, g)
	}
	return all
}

// Under host-ownership: namespace, younger Ingresses of other namespaces do not change
// the answers and certificates of a host.
func TestNewcomersChangeNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 7))
	w := world{config: map[string]string{"host-ownership": "namespace"}, options: func(o *Options) {
		o.Passthrough, o.FallbackCertificate = true, &model.Certificate{ID: "fallback"}
	}, yaml: secret("guest/wild", issue(t, "shop.example", "*.example", "*.below.example", "*.wild.example"))}
	w.ingresses = owners()
	alone, _ := Config(newSnapshot(t, w.objects(t)), w.flags(), nil)
	blocked := 0
	for range 300 {
		w.ingresses = append(owners(), guests(random)...)
		config, problems := Config(newSnapshot(t, w.objects(t)), w.flags(), nil)
		for _, p := range problems {
			if p.Reason == model.NotDelegated {
				blocked++
			}
		}
		for _, host := range []string{"shop.example", "*.wild.example", "in.below.example", "named.example", "", "passed.example"} {
			before, after := *serverNamed(t, alone, host), *serverNamed(t, config, host)
			if diff := difference(before, after); diff != "" {
				t.Fatalf("host %q:\n%s\n%v", host, diff, w.ingresses[len(owners()):])
			}
		}
		for _, name := range []string{"unknown.test", "10.0.0.1"} {
			if before, after := ask(alone, name+"/x"), ask(config, name+"/x"); before != after {
				t.Fatalf("%s: %s, before %s:\n%v", name, after, before, w.ingresses[len(owners()):])
			}
		}
		for _, name := range []string{"shop.example", "any.wild.example", "in.below.example", "x.below.example", "named.example", "alias.example", "passed.example"} {
			if id := certificateOf(config, name); id != "fallback" {
				t.Fatalf("%s is presented the certificate %q:\n%v", name, id, w.ingresses[len(owners()):])
			}
		}
		passed := func(p model.Passthrough) bool { return p.Host == "passed.example" }
		if !slices.ContainsFunc(config.Static.Passthroughs, passed) {
			t.Fatalf("passed.example is not passed through:\n%v", w.ingresses[len(owners()):])
		}
	}
	if blocked < 300 {
		t.Errorf("only %d of the guests' rules were left out: this shows little", blocked)
	}
}

// certificateOf is the certificate of a name: its own, that of the wildcard above it,
// or the default one.
func certificateOf(config model.Config, name string) string {
	_, parent, _ := strings.Cut(name, ".")
	for _, host := range []string{name, "*." + parent, ""} {
		for _, n := range config.Dynamic.Names {
			if n.Host == host {
				return n.ID
			}
		}
	}
	return ""
}

// A host keeps its owner while the owner's Ingress is in quarantine.
func TestHostOfAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ownership, delegation, want string
	}{
		"shared":               {"shared", "", "^~ / -> d"},
		"owned":                {"namespace", "", "/ -> 503"},
		"owned, and delegated": {"namespace", "guest", "^~ / -> d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{config: map[string]string{"host-ownership": test.ownership}, ingresses: append(owners(), ing{name: "guest/g", rules: []string{"shop.example / P d:80"}})}
			w.ingresses[0].annotations = map[string]string{claim.HostDelegation: test.delegation}
			snap, memo := newSnapshot(t, w.objects(t)), NewMemo()
			served, _ := Config(snap, w.flags(), memo)
			if got := ask(served, "shop.example/"); got != "^~ / -> a" {
				t.Errorf("while it is served: %s", got)
			}
			without := snap.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{{Namespace: "owner", Name: "shop"}: nil})
			config, _ := Config(without, w.flags(), memo)
			if got := ask(config, "shop.example/"); got != test.want {
				t.Errorf("while it is not served: %s, want %s", got, test.want)
			}
			again, _ := Config(snap, w.flags(), memo)
			if diff := cmp.Diff(served, again); diff != "" {
				t.Errorf("when it is served again:\n%s", diff)
			}
		})
	}
}

// No host or alias of an Ingress that is not served goes to a younger one of another
// namespace.
func TestNamesOfAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	names := []string{"shop.example", "rule.example", "named.example", "x.wild.example", "y.alias.example", "a.b.example"}
	for name, taker := range map[string]ing{
		"rules":              {rules: []string{"rule.example / P d:80", "named.example / P d:80", "shop.example /x P d:80", "a.b.example / E d:80"}},
		"wildcard hosts":     {rules: []string{"*.example / P d:80", "*.wild.example / P d:80", "*.alias.example / P d:80", "*.b.example / P d:80"}},
		"no host":            {rules: []string{"* / P d:80"}},
		"aliases":            {rules: []string{"mine.test / P d:80"}, annotations: map[string]string{"server-alias": "shop.example, rule.example, named.example, a.b.example"}},
		"wildcard aliases":   {rules: []string{"mine.test / P d:80"}, annotations: map[string]string{"server-alias": "*.example, *.wild.example, *.alias.example, shop.*"}},
		"patterns":           {rules: []string{"mine.test / P d:80"}, annotations: map[string]string{"server-alias": "~^.*$"}},
		"aliases of no host": {rules: []string{"* / P d:80"}, annotations: map[string]string{"server-alias": "shop.example, *.example, ~^.*$"}},
		"passing through":    {rules: []string{"*.example / P d:80"}, annotations: map[string]string{"ssl-passthrough": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taker.name, taker.tls = "mallory/g", []string{"wild *.example *.wild.example"}
			config, _, _ := withoutShop(t, taker)
			for _, name := range names {
				if got := ask(config, name+"/x"); got != "/ -> 503" {
					t.Errorf("%s: %s", name, got)
				}
				if id := certificateOf(config, name); id != "fallback" {
					t.Errorf("%s is presented the certificate %q", name, id)
				}
			}
			for _, p := range config.Static.Passthroughs {
				if want := []string{"named.example", "rule.example", "shop.example"}; !slices.Equal(p.Except, want) {
					t.Errorf("passed through are all names but %q, want %q", p.Except, want)
				}
			}
		})
	}
}

// withoutShop has victim/shop, not served, beside another Ingress. When it is served
// again, the result is the same as before.
func withoutShop(t *testing.T, other ing) (config model.Config, problems []model.Problem, served model.Config) {
	t.Helper()
	w := world{config: map[string]string{"host-ownership": "namespace"}, ingresses: []ing{
		{name: "victim/shop", age: 10, annotations: map[string]string{"server-alias": "named.example, *.alias.example, ~^victim"},
			rules: []string{"shop.example / P a:80", "rule.example / P a:80", "*.wild.example / P a:80", "a.b.example / P a:80"}}, other},
		options: func(o *Options) { o.Passthrough, o.FallbackCertificate = true, &model.Certificate{ID: "fallback"} },
		yaml:    secret("mallory/wild", issue(t, "*.example", "*.wild.example"))}
	snap, memo := newSnapshot(t, w.objects(t)), NewMemo()
	served, told := Config(snap, w.flags(), memo)
	without := snap.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{{Namespace: "victim", Name: "shop"}: nil})
	config, problems = Config(without, w.flags(), memo)
	fresh, others := Config(without, w.flags(), nil)
	if diff := cmp.Diff(fresh, config) + cmp.Diff(others, problems); diff != "" {
		t.Errorf("with a memo:\n%s", diff)
	}
	again, toldAgain := Config(snap, w.flags(), memo)
	if diff := cmp.Diff(served, again) + cmp.Diff(told, toldAgain); diff != "" {
		t.Errorf("when it is served again:\n%s", diff)
	}
	return config, problems, served
}

// Names that others keep: those of an older Ingress, of the same namespace, and more
// precise ones.
func TestNamesOfOthersBesideAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	aliases := map[string]string{"server-alias": "shop.example, named.example"}
	for name, test := range map[string]struct {
		other   ing
		answers map[string]string
	}{
		"older, by rules": {ing{name: "guest/g", age: 20, rules: []string{"shop.example / P d:80", "named.example / P d:80"}},
			map[string]string{"shop.example": "^~ / -> d", "named.example": "^~ / -> d", "rule.example": "/ -> 503"}},
		"older, by aliases": {ing{name: "guest/g", age: 20, annotations: aliases, rules: []string{"mine.test / P d:80"}},
			map[string]string{"shop.example": "^~ / -> d", "named.example": "^~ / -> d", "rule.example": "/ -> 503"}},
		"own, by rules": {ing{name: "victim/g", rules: []string{"shop.example / P d:80", "named.example / P d:80"}},
			map[string]string{"shop.example": "^~ / -> d", "named.example": "^~ / -> d", "rule.example": "/ -> 503"}},
		"own, by aliases": {ing{name: "victim/g", annotations: aliases, rules: []string{"mine.test / P d:80"}},
			map[string]string{"shop.example": "^~ / -> d", "named.example": "^~ / -> d", "rule.example": "/ -> 503"}},
		"more exact": {ing{name: "guest/g", rules: []string{"x.wild.example / P d:80"}},
			map[string]string{"x.wild.example": "^~ / -> d", "y.wild.example": "/ -> 503"}},
	} {
		config, _, _ := withoutShop(t, test.other)
		for url, want := range test.answers {
			if got := ask(config, url+"/"); got != want {
				t.Errorf("%s: %s: %s, want %s", name, url, got, want)
			}
		}
	}
}

// An alias that is left out is reported, with the owner of the name.
func TestAliasOfAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	_, problems, _ := withoutShop(t, ing{name: "guest/g", annotations: map[string]string{"server-alias": "shop.example"}, rules: []string{"mine.test / P d:80"}})
	want := []model.Problem{{Object: model.ObjectRef{Kind: "Ingress", Namespace: "guest", Name: "g"}, Field: "nginx.ingress.kubernetes.io/server-alias", Reason: model.NotDelegated,
		Text: "shop.example is owned by namespace victim, because Ingress victim/shop is its oldest Ingress, although it is not served for the time being: the alias is left out; use another name"}}
	told := slices.DeleteFunc(problems, func(p model.Problem) bool { return p.Reason == model.NotFound })
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// Names without a rule also keep their owner while its Ingress is not served: no
// pattern of a younger one takes them.
func TestUnknownNamesOfAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		delegation, want string
		age              int
	}{
		"younger":            {"", "/ -> 404", 1},
		"younger, delegated": {"guest", "^~ / -> d", 1},
		"older":              {"", "^~ / -> d", 20},
	} {
		w := world{config: map[string]string{"host-ownership": "namespace"}, ingresses: []ing{
			{name: "owner/all", age: 10, annotations: map[string]string{claim.HostDelegation: test.delegation}, rules: []string{"* / P c:80"}},
			{name: "guest/any", age: test.age, annotations: map[string]string{"server-alias": "~^.*$"}, rules: []string{"mine.example / P d:80"}},
		}}
		snap, memo := newSnapshot(t, w.objects(t)), NewMemo()
		served, problems := Config(snap, w.flags(), memo)
		without := snap.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{{Namespace: "owner", Name: "all"}: nil})
		config, _ := Config(without, w.flags(), memo)
		if got := ask(config, "unknown.test/"); got != test.want {
			t.Errorf("%s: while it is not served: %s, want %s", name, got, test.want)
		}
		again, told := Config(snap, w.flags(), memo)
		if diff := cmp.Diff(served, again) + cmp.Diff(problems, told); diff != "" {
			t.Errorf("%s: when it is served again:\n%s", name, diff)
		}
	}
}

// An Ingress that is not served still delegates its host, also if an older one of its
// namespace exists.
func TestDelegationOfAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	w := world{config: map[string]string{"host-ownership": "namespace"}, ingresses: []ing{
		{name: "owner/root", rules: []string{"shop.example / P a:80"}},
		{name: "owner/lends", annotations: map[string]string{claim.HostDelegation: "guest"}, rules: []string{"shop.example /x P a:80"}},
		{name: "guest/admin", annotations: map[string]string{"whitelist-source-range": "10.0.0.0/8"}, rules: []string{"shop.example /admin P d:80"}},
	}}
	snap := newSnapshot(t, w.objects(t))
	without := snap.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{{Namespace: "owner", Name: "lends"}: nil})
	for name, s := range map[string]*snapshot.Snapshot{"served": snap, "not served": without} {
		config, _ := Config(s, w.flags(), NewMemo())
		if got := ask(config, "shop.example/admin/x"); got != "^~ /admin/ -> d" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A memo never changes a result, whoever owns the hosts.
func TestMemoChangesNoOwner(t *testing.T) {
	t.Parallel()
	for _, ownership := range []string{"shared", "namespace"} {
		t.Run(ownership, func(t *testing.T) {
			t.Parallel()
			random, memo := rand.New(rand.NewPCG(3, 7)), NewMemo()
			w := world{config: map[string]string{"host-ownership": ownership}, ingresses: append(owners(), guests(random)...),
				options: func(o *Options) { o.Passthrough = true }, yaml: secret("guest/wild", issue(t, "*.example", "*.below.example"))}
			w.ingresses = append(w.ingresses, ing{name: "guest/more", annotations: map[string]string{"app-root": "/a", "use-regex": "true"}, tls: []string{"wild *.below.example"},
				rules: []string{"shop.example /more P d:80", "*.below.example / P d:80", "alias.example / P d:80"}})
			base := w.objects(t)
			for range 60 {
				objects := base
				objects.Ingresses = some(base.Ingresses, random)
				if random.IntN(2) == 0 {
					objects.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "owner", Annotations: map[string]string{claim.HostDelegation: "guest"}}}}
				}
				snap := newSnapshot(t, objects)
				if random.IntN(3) == 0 {
					snap = snap.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{{Namespace: "owner", Name: "shop"}: nil})
				}
				want, problems := Config(snap, w.flags(), nil)
				got, others := Config(snap, w.flags(), memo)
				if diff := difference(want, got); diff != "" {
					t.Fatalf("with a memo:\n%s", diff)
				}
				if diff := difference(problems, others); diff != "" {
					t.Fatalf("problems with a memo:\n%s", diff)
				}
			}
		})
	}
}
