package translate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// innerClass is a class with its own settings, beside the default one of a world.
const innerClass = `---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: inner}
spec: {controller: k8s.io/ingress-nginx, parameters: {kind: ConfigMap, name: inner, scope: Namespace, namespace: team}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: team, name: inner}
data: {proxy-read-timeout: "7", worker-processes: "3"}
`

// shopWorld has objects of every kind.
func shopWorld(t *testing.T) world {
	t.Helper()
	return world{
		yaml: innerClass + secret("default/wild", issue(t, "*.wild")) + secret("default/own", issue(t, "own.example")) + secret("default/ca", issue(t, "authority")) +
			"---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: default, name: users}\ndata: {auth: YW5uOntQTEFJTn1zZWNyZXQ=}\n" +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: headers}\ndata: {X-One: a}\n",
		ingresses: []ing{
			{name: "one", age: 5, rules: []string{"one /a P a:80", "two /a P a:80"}},
			{name: "two", age: 4, rules: []string{"two /b P b:80"}},
			{name: "wild", age: 3, tls: []string{"wild *.wild"}, rules: []string{"*.wild / P c:80"}},
			{name: "under", age: 2, rules: []string{"x.wild / P d:80"}},
			{name: "own", age: 2, tls: []string{"own own.example"}, rules: []string{"own.example / P d:80"}},
			{name: "trust", annotations: map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/ca"}, rules: []string{"trust / P e:80"}},
			{name: "asks", annotations: map[string]string{"auth-type": "basic", "auth-secret": "users"}, rules: []string{"asks / P e:80"}},
			{name: "headers", annotations: map[string]string{"custom-headers": "default/headers"}, rules: []string{"headers / P e:80"}},
			{name: "inner", spec: "ingressClassName: inner", rules: []string{"inner / P a:80"}},
			{name: "any", rules: []string{"* /any P e:80"}},
		},
		config: map[string]string{"ssl-redirect": "true", "global-allowed-response-headers": "X-One, X-Two"},
	}
}

// sharing has a session, two canaries of one path and a mirror.
func sharing() []ing {
	return []ing{
		{name: "session", age: 9, annotations: map[string]string{"affinity": "cookie", "mirror-target": "http://10.0.0.9"}, rules: []string{"one /s P a:80", "two /s P b:80"}},
		{name: "canary", age: 8, annotations: map[string]string{"canary": "true", "canary-weight": "10"}, rules: []string{"one /s P c:80", "two /s P nosuch:80"}},
		{name: "other", age: 7, annotations: map[string]string{"canary": "true", "canary-weight": "20"}, rules: []string{"one /s P c:80", "one /none P c:80"}},
	}
}

// replace returns the objects with one replaced by a changed copy.
func replace[T any](list []*T, pick func(*T) bool, change func(*T)) []*T {
	out := slices.Clone(list)
	for i, object := range out {
		if pick(object) {
			changed := *object
			change(&changed)
			out[i] = &changed
		}
	}
	return out
}

// A memo never changes a result, whatever changes between calls.
func TestMemoChangesNoResult(t *testing.T) {
	t.Parallel()
	w := shopWorld(t)
	w.ingresses = append(w.ingresses,
		ing{name: "named", age: 1, annotations: map[string]string{"server-alias": "one, own.test, ~x.*"}, tls: []string{"own own.example"}, rules: []string{"own.example /n P e:80", "*.wild /n P e:80"}},
		ing{name: "renamed", age: 6, annotations: map[string]string{"server-alias": "own.test, y.wild"}, rules: []string{"two /n P e:80"}})
	w.ingresses = append(w.ingresses, sharing()...)
	base := w.objects(t)
	options := w.flags()
	options.DefaultBackend = snapshot.Name{Namespace: "default", Name: "e"}
	random := rand.New(rand.NewPCG(7, 7))
	memo := NewMemo()
	for range 60 {
		objects := thinned(base, random)
		flags := options
		if random.IntN(4) == 0 {
			flags.Denied = map[model.ObjectRef]claim.Denial{{Kind: "Ingress", Namespace: "default", Name: "one"}: claim.DenyPaths}
		}
		if random.IntN(8) == 0 {
			flags.DefaultBackend = snapshot.Name{}
		}
		if random.IntN(8) == 0 {
			flags.ConfigMap = snapshot.Name{}
		}
		snap := newSnapshot(t, objects)
		want, problems := Config(snap, flags, nil)
		got, others := Config(snap, flags, memo)
		if diff := difference(want, got); diff != "" {
			t.Fatalf("with a memo:\n%s", diff)
		}
		if diff := difference(problems, others); diff != "" {
			t.Fatalf("problems with a memo:\n%s", diff)
		}
	}
}

// If only Services and endpoints change, Config does not compute the rest again, and
// the result is the same as without a memo.
func TestOnlyEndpointsChangeNoResult(t *testing.T) {
	t.Parallel()
	w := shopWorld(t)
	w.ingresses = append(w.ingresses, sharing()...)
	w.ingresses = append(w.ingresses, ing{name: "passed", annotations: map[string]string{"ssl-passthrough": "true"}, rules: []string{"passed / P c:80"}})
	w.yaml += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: sluice, name: tcp}\ndata: {\"9000\": \"default/d:80\"}\n"
	options := w.flags()
	options.DefaultBackend, options.TCPServices, options.Passthrough = snapshot.Name{Namespace: "default", Name: "e"}, snapshot.Name{Namespace: "sluice", Name: "tcp"}, true
	random := rand.New(rand.NewPCG(11, 11))
	objects, memo := w.objects(t), NewMemo()
	var builder snapshot.Builder
	quick := 0
	for step := range 300 {
		objects.Services, objects.EndpointSlices = slices.Clone(objects.Services), slices.Clone(objects.EndpointSlices)
		service, part := random.IntN(len(objects.Services)), random.IntN(len(objects.EndpointSlices))
		switch kind := random.IntN(10); {
		case kind == 0:
			changed := *objects.Services[service]
			changed.Spec.Ports = changed.Spec.Ports[:random.IntN(len(changed.Spec.Ports)+1)]
			objects.Services[service] = &changed
		case kind == 1 && len(objects.Services) > 2:
			objects.Services = slices.Delete(objects.Services, service, service+1)
		case kind == 2:
			objects = w.objects(t)
		case kind == 3:
			options.Denied = map[model.ObjectRef]claim.Denial{{Kind: "Ingress", Namespace: "default", Name: "one"}: claim.Denial(random.IntN(2))}
		default:
			changed := *objects.EndpointSlices[part]
			changed.Endpoints = changed.Endpoints[:random.IntN(len(changed.Endpoints)+1)]
			if random.IntN(20) == 0 {
				changed.AddressType = discoveryv1.AddressTypeFQDN
			}
			objects.EndpointSlices[part] = &changed
		}
		snap, _ := builder.Next(objects)
		want, problems := Config(snap, options, nil)
		pass := memo.pass
		got, others := Config(snap, options, memo)
		if memo.pass == pass {
			quick++
		}
		if diff := difference(want, got); diff != "" {
			t.Fatalf("step %d, with a memo:\n%s", step, diff)
		}
		if diff := difference(problems, others); diff != "" {
			t.Fatalf("step %d, problems with a memo:\n%s", step, diff)
		}
	}
	if quick < 50 {
		t.Errorf("only %d of 300 changes passed over the rest", quick)
	}
}

// An Ingress that is not served owns its host. So a change is noticed if it is deleted
// and created again in that time.
func TestOnlyEndpointsSeeWhoIsNotServed(t *testing.T) {
	t.Parallel()
	w := world{config: map[string]string{"host-ownership": "namespace"}, ingresses: []ing{
		{name: "victim/shop", age: 10, rules: []string{"shop.example / P a:80"}}, {name: "guest/g", age: 5, rules: []string{"shop.example / P d:80"}}}}
	options, memo := w.flags(), NewMemo()
	var builder snapshot.Builder
	objects := w.objects(t)
	for _, want := range []string{"/ -> 503", "^~ / -> d"} {
		snap, _ := builder.Next(objects)
		snap = snap.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{{Namespace: "victim", Name: "shop"}: nil})
		config, _ := Config(snap, options, memo)
		if got := ask(config, "shop.example/"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		objects.Ingresses = replace(objects.Ingresses, func(i *networkingv1.Ingress) bool { return i.Namespace == "victim" },
			func(i *networkingv1.Ingress) {
				i.CreationTimestamp = metav1.NewTime(i.CreationTimestamp.AddDate(1, 0, 0))
			})
	}
}

// thinned drops some objects at random.
func thinned(o snapshot.Objects, random *rand.Rand) snapshot.Objects {
	o.Ingresses = some(o.Ingresses, random)
	o.Services = some(o.Services, random)
	o.EndpointSlices = some(o.EndpointSlices, random)
	o.Secrets = some(o.Secrets, random)
	o.ConfigMaps = some(o.ConfigMaps, random)
	o.IngressClasses = some(o.IngressClasses, random)
	return o
}

func some[T any](list []T, random *rand.Rand) []T {
	return slices.DeleteFunc(slices.Clone(list), func(T) bool { return random.IntN(6) == 0 })
}

// touched are the names of results with another pointer than before.
func touched(before, after model.Config) (servers, backends, certificates []string) {
	servers, backends, certificates = []string{}, []string{}, []string{}
	for _, s := range after.Static.Servers {
		if !slices.Contains(before.Static.Servers, s) {
			servers = append(servers, s.Host)
		}
	}
	for _, b := range after.Dynamic.Backends {
		if !slices.Contains(before.Dynamic.Backends, b) {
			backends = append(backends, b.Key)
		}
	}
	for _, c := range after.Dynamic.Certificates {
		if !slices.Contains(before.Dynamic.Certificates, c) {
			certificates = append(certificates, "certificate")
		}
	}
	return servers, backends, certificates
}

// Only results that depend on a changed object are made again.
func TestOnlyWhatChangedIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := shopWorld(t)
	base := w.objects(t)
	named := func(name string) func(*networkingv1.Ingress) bool {
		return func(i *networkingv1.Ingress) bool { return i.Name == name }
	}
	fresh := issue(t, "own.example")
	for name, test := range map[string]struct {
		change       func(*snapshot.Objects)
		servers      []string
		backends     []string
		certificates int
	}{
		"nothing": {func(*snapshot.Objects) {}, nil, nil, 0},
		"an Ingress": {func(o *snapshot.Objects) {
			o.Ingresses = replace(o.Ingresses, named("one"), func(i *networkingv1.Ingress) { i.Generation++ })
		}, []string{"one", "two"}, nil, 0},
		"an Ingress goes": {func(o *snapshot.Objects) { o.Ingresses = slices.DeleteFunc(slices.Clone(o.Ingresses), named("two")) },
			[]string{"two"}, nil, 0},
		"an Ingress with a certificate that others have": {func(o *snapshot.Objects) {
			o.Ingresses = slices.DeleteFunc(slices.Clone(o.Ingresses), named("wild"))
		}, []string{"x.wild"}, nil, 0},
		"the catch-all host": {func(o *snapshot.Objects) {
			o.Ingresses = replace(o.Ingresses, named("any"), func(i *networkingv1.Ingress) { i.Generation++ })
		}, []string{""}, nil, 0},
		"the catch-all host's only other path": {func(o *snapshot.Objects) {
			o.Ingresses = replace(o.Ingresses, named("any"), func(i *networkingv1.Ingress) {
				i.Spec.Rules = slices.Clone(i.Spec.Rules)
				setPaths(i, networkingv1.PathTypePrefix, "/")
			})
		}, []string{"", "*.wild"}, nil, 0},
		"a Service":               {func(o *snapshot.Objects) { touch(o.Services, "a") }, nil, []string{"default/a/80"}, 0},
		"endpoints":               {func(o *snapshot.Objects) { touch(o.EndpointSlices, "b-1") }, nil, []string{"default/b/80"}, 0},
		"endpoints go":            {func(o *snapshot.Objects) { o.EndpointSlices = o.EndpointSlices[1:] }, nil, []string{"default/a/80"}, 0},
		"a certificate":           {func(o *snapshot.Objects) { touch(o.Secrets, "own"); renew(o, fresh) }, nil, nil, 1},
		"the settings of a class": {func(o *snapshot.Objects) { touch(o.ConfigMaps, "inner") }, []string{"inner"}, nil, 0},
		"the settings of a class go": {func(o *snapshot.Objects) {
			o.ConfigMaps = slices.DeleteFunc(o.ConfigMaps, func(c *corev1.ConfigMap) bool { return c.Name == "inner" })
		}, []string{"inner"}, nil, 0},
		"the parameters of a class": {func(o *snapshot.Objects) {
			o.IngressClasses = replace(o.IngressClasses, func(c *networkingv1.IngressClass) bool { return c.Name == "inner" },
				func(c *networkingv1.IngressClass) { c.Spec.Parameters = nil })
		}, []string{"inner"}, nil, 0},
		"a class, with the same parameters": {func(o *snapshot.Objects) { touch(o.IngressClasses, "inner") }, nil, nil, 0},
		"a class that goes": {func(o *snapshot.Objects) {
			o.IngressClasses = slices.DeleteFunc(o.IngressClasses, func(c *networkingv1.IngressClass) bool { return c.Name == "inner" })
		}, nil, nil, 0},
		"an Ingress moves to another class of ours": {func(o *snapshot.Objects) { move(o, "two", "inner") }, []string{"two"}, nil, 0},
		"an Ingress moves to another controller":    {func(o *snapshot.Objects) { move(o, "two", "other") }, []string{"two"}, nil, 0},
		"a Secret to trust":                         {func(o *snapshot.Objects) { touch(o.Secrets, "ca") }, []string{"trust"}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memo := NewMemo()
			before, _ := Config(newSnapshot(t, base), w.flags(), memo)
			objects := base
			objects.Services, objects.EndpointSlices, objects.Secrets = slices.Clone(base.Services), slices.Clone(base.EndpointSlices), slices.Clone(base.Secrets)
			objects.IngressClasses, objects.ConfigMaps = slices.Clone(base.IngressClasses), slices.Clone(base.ConfigMaps)
			test.change(&objects)
			after, _ := Config(newSnapshot(t, objects), w.flags(), memo)
			servers, backends, certificates := touched(before, after)
			if test.servers == nil {
				test.servers = []string{}
			}
			if test.backends == nil {
				test.backends = []string{}
			}
			if diff := cmp.Diff(test.servers, servers); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.backends, backends); diff != "" {
				t.Errorf("backends (-want +got):\n%s", diff)
			}
			if len(certificates) != test.certificates {
				t.Errorf("%d certificates are new", len(certificates))
			}
		})
	}
}

// move gives an Ingress another class.
func move(o *snapshot.Objects, name, class string) {
	o.Ingresses = replace(o.Ingresses, func(i *networkingv1.Ingress) bool { return i.Name == name },
		func(i *networkingv1.Ingress) { i.Spec.IngressClassName = &class })
}

// object is a Kubernetes object with a name.
type object[T any] interface {
	*T
	GetName() string
	SetGeneration(int64)
}

// touch replaces an object by an equal copy.
func touch[T any, P object[T]](list []P, name string) {
	for i, o := range list {
		if o.GetName() == name {
			changed := *o
			list[i] = &changed
		}
	}
}

// renew puts another certificate into the Secret own, which must be a copy.
func renew(o *snapshot.Objects, p pair) {
	for _, s := range o.Secrets {
		if s.Name == "own" {
			s.Data = map[string][]byte{"tls.crt": p.crt, "tls.key": p.key}
		}
	}
}

// The memo keeps only entries that the last call used. The assembler's backends are
// tested there.
func TestMemoForgets(t *testing.T) {
	t.Parallel()
	w := shopWorld(t)
	memo := NewMemo()
	Config(newSnapshot(t, w.objects(t)), w.flags(), memo)
	objects := w.objects(t) // other pointers throughout
	objects.Ingresses, objects.ConfigMaps = objects.Ingresses[:1], objects.ConfigMaps[1:]
	Config(newSnapshot(t, objects), w.flags(), memo)
	if n := len(memo.owners); n != 1 {
		t.Errorf("%d Ingresses are remembered", n)
	}
	if n := len(memo.secrets); n != 0 {
		t.Errorf("%d Secrets are remembered", n)
	}
	if n := len(memo.classes); n != 0 {
		t.Errorf("the settings of %d classes are remembered", n)
	}
}

func TestMissingConfigMap(t *testing.T) {
	t.Parallel()
	world{options: func(o *Options) { o.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "nosuch"} }}.
		check(t, []string{"any/", "/ -> 404"}, []string{"NotFound ConfigMap sluice/nosuch"})
}

// Accepted are the Ingresses of the last call that are ours, whatever the memo holds. A
// later call does not change the list.
func TestAccepted(t *testing.T) {
	t.Parallel()
	w := shopWorld(t)
	w.ingresses = append(w.ingresses, ing{name: "theirs", spec: "ingressClassName: other", rules: []string{"one / P a:80"}})
	memo, snap := NewMemo(), newSnapshot(t, w.objects(t))
	want := slices.DeleteFunc(slices.Clone(snap.Ingresses()), func(object *networkingv1.Ingress) bool { return object.Name == "theirs" })
	for range 2 {
		Config(snap, w.flags(), memo)
		if diff := cmp.Diff(want, memo.Accepted()); diff != "" || len(want) == 0 {
			t.Fatal(diff)
		}
	}
	before := memo.Accepted()
	w.ingresses = nil
	Config(newSnapshot(t, w.objects(t)), w.flags(), memo)
	if len(memo.Accepted()) > 0 || !slices.Equal(before, want) {
		t.Errorf("without Ingresses got %d, and the list of before has %d of %d", len(memo.Accepted()), len(before), len(want))
	}
}

// An Ingress is read again if, and only if, an object that it was made of changed.
func TestOnlyWhatReadsAnObjectIsReadAnew(t *testing.T) {
	t.Parallel()
	w := shopWorld(t)
	options, memo := w.flags(), NewMemo()
	objects := w.objects(t)
	read := func(objects snapshot.Objects) map[string]*owner {
		Config(newSnapshot(t, objects), options, memo)
		all := map[string]*owner{}
		for object, ing := range memo.owners {
			all[object.(*networkingv1.Ingress).Name] = ing
		}
		return all
	}
	named := func(name string) func(o metav1.Object) bool {
		return func(o metav1.Object) bool { return o.GetName() == name }
	}
	for name, test := range map[string]struct {
		change func(*snapshot.Objects)
		want   []string
	}{
		"nothing": {func(*snapshot.Objects) {}, nil},
		"the users": {func(o *snapshot.Objects) {
			o.Secrets = replace(o.Secrets, func(s *corev1.Secret) bool { return named("users")(s) }, func(*corev1.Secret) {})
		}, []string{"asks"}},
		"no users": {func(o *snapshot.Objects) {
			o.Secrets = slices.DeleteFunc(slices.Clone(o.Secrets), func(s *corev1.Secret) bool { return named("users")(s) })
		}, []string{"asks"}},
		"the authority": {func(o *snapshot.Objects) {
			o.Secrets = replace(o.Secrets, func(s *corev1.Secret) bool { return named("ca")(s) }, func(*corev1.Secret) {})
		}, []string{"trust"}},
		"a certificate": {func(o *snapshot.Objects) {
			o.Secrets = replace(o.Secrets, func(s *corev1.Secret) bool { return named("own")(s) }, func(*corev1.Secret) {})
		}, nil},
		"the headers": {func(o *snapshot.Objects) {
			o.ConfigMaps = replace(o.ConfigMaps, func(m *corev1.ConfigMap) bool { return named("headers")(m) }, func(*corev1.ConfigMap) {})
		}, []string{"headers"}},
		"headers that may not be read": {func(o *snapshot.Objects) {
			o.ConfigMaps = slices.DeleteFunc(slices.Clone(o.ConfigMaps), func(m *corev1.ConfigMap) bool { return named("headers")(m) })
			o.Forbidden = []model.ObjectRef{{Kind: "ConfigMap", Namespace: "default", Name: "headers"}}
		}, []string{"headers"}},
		"a Service": {func(o *snapshot.Objects) {
			o.Services = replace(o.Services, func(s *corev1.Service) bool { return named("e")(s) }, func(*corev1.Service) {})
		}, nil},
		"somebody's Secret": {func(o *snapshot.Objects) {
			o.Secrets = append(slices.Clip(o.Secrets), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "new"}})
		}, nil},
	} {
		before := read(objects)
		changed := objects
		test.change(&changed)
		var anew []string
		for name, ing := range read(changed) {
			if before[name] != ing {
				anew = append(anew, name)
			}
		}
		slices.Sort(anew)
		if diff := cmp.Diff(test.want, anew); diff != "" {
			t.Errorf("%s: read anew (-want +got):\n%s", name, diff)
		}
	}
}
