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

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// owners have the hosts of this test, and guests are younger and want all of them.
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
			HostDelegation: "*",
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

// Where a namespace owns its hosts, younger Ingresses of others change nothing of
// what is answered and presented for them.
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
			if diff := cmp.Diff(before, after); diff != "" {
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

// certificateOf is the certificate that a name is presented: its own, that of the
// wildcard above it, or the default one.
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

// A host stays its owner's while the owner's Ingress is not served: what is in
// quarantine must not give the host to the next one.
func TestHostOfAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ownership, delegation, want string
	}{
		"shared":               {"shared", "", "^~ / -> d"},
		"owned":                {"namespace", "", "^~ / -> c"},
		"owned, and delegated": {"namespace", "guest", "^~ / -> d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{config: map[string]string{"host-ownership": test.ownership}, ingresses: append(owners(), ing{name: "guest/g", rules: []string{"shop.example / P d:80"}})}
			w.ingresses[0].annotations = map[string]string{HostDelegation: test.delegation}
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

// The names that no rule has stay their owner's, too, while its Ingress is not
// served: no pattern of a younger one takes them in the meantime.
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
			{name: "owner/all", age: 10, annotations: map[string]string{HostDelegation: test.delegation}, rules: []string{"* / P c:80"}},
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

// An Ingress that is not served for the time being goes on delegating its host, also
// where another one of its namespace is older.
func TestDelegationOfAnIngressThatIsNotServed(t *testing.T) {
	t.Parallel()
	w := world{config: map[string]string{"host-ownership": "namespace"}, ingresses: []ing{
		{name: "owner/root", rules: []string{"shop.example / P a:80"}},
		{name: "owner/lends", annotations: map[string]string{HostDelegation: "guest"}, rules: []string{"shop.example /x P a:80"}},
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

// What is remembered never changes a result, whoever owns the hosts.
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
					objects.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "owner", Annotations: map[string]string{HostDelegation: "guest"}}}}
				}
				snap := newSnapshot(t, objects)
				if random.IntN(3) == 0 {
					snap = snap.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{{Namespace: "owner", Name: "shop"}: nil})
				}
				want, problems := Config(snap, w.flags(), nil)
				got, others := Config(snap, w.flags(), memo)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("with a memo:\n%s", diff)
				}
				if diff := cmp.Diff(problems, others); diff != "" {
					t.Fatalf("problems with a memo:\n%s", diff)
				}
			}
		})
	}
}
