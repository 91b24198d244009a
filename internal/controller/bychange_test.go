package controller

import (
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/selfsigned"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/templatedir"
	"sluice/internal/translate"
)

// whim makes random objects. There are few names, hosts and Services, so that objects
// affect each other.
type whim struct {
	*rand.Rand
	certificates []*model.Certificate
	made         int
	// release ends the names of all Ingresses.
	release string
	// mirrors is set if there are Endpoints, which are mirrored as slices.
	mirrors bool
}

func pick[T any](w *whim, from ...T) T { return from[w.IntN(len(from))] }

func (w *whim) meta(names int) metav1.ObjectMeta {
	w.made++
	return metav1.ObjectMeta{Namespace: pick(w, "a", "b"), Name: fmt.Sprint("n", w.IntN(names)), Generation: int64(w.made)}
}

// annotated are annotations of Ingresses, alone or combined: some decorate, shape a
// host, protect, refer to other objects, or are wrong.
var annotated = []map[string]string{
	{"proxy-read-timeout": "5"}, {"proxy-read-timeout": "never"}, {"ssl-redirect": "false"}, {"limit-rps": "5"},
	{"server-alias": "alias.example, h1.example"}, {"server-alias": "~^x[0-9]+$"}, {"app-root": "/start"},
	{"rewrite-target": "/$1", "use-regex": "true"}, {"use-regex": "true"}, {"mirror-target": "https://mirror.example/"},
	{"whitelist-source-range": "10.0.0.0/8"}, {"whitelist-source-range": "everybody"}, {"ssl-passthrough": "true"},
	{"backend-protocol": "HTTPS", "proxy-ssl-secret": "a/n1", "proxy-ssl-verify": "on"}, {"affinity": "cookie"},
	{"canary": "true", "canary-weight": "30"}, {"canary": "true", "canary-by-header": "X-Try"},
	{"auth-type": "basic", "auth-secret": "n2"}, {"auth-url": "http://auth.example/"}, {"no-such-thing": "1"},
}

func (w *whim) ingress() *networkingv1.Ingress {
	ing := &networkingv1.Ingress{ObjectMeta: w.meta(9), Spec: networkingv1.IngressSpec{IngressClassName: pick(w, new("nginx"), new("nginx"), new("inner"), new("other"), nil)}}
	ing.Name += w.release
	ing.CreationTimestamp = metav1.NewTime(time.Unix(int64(w.IntN(5)), 0))
	ing.Annotations = map[string]string{}
	for range w.IntN(3) {
		for key, value := range pick(w, annotated...) {
			ing.Annotations["nginx.ingress.kubernetes.io/"+key] = value
		}
	}
	if w.IntN(6) == 0 {
		ing.Annotations[claim.HostDelegation] = pick(w, "a", "b", "*")
	}
	for range w.IntN(3) {
		rule := networkingv1.IngressRule{Host: pick(w, "h1.example", "h2.example", "alias.example", "*.example", "")}
		rule.HTTP = &networkingv1.HTTPIngressRuleValue{}
		for range 1 + w.IntN(2) {
			rule.HTTP.Paths = append(rule.HTTP.Paths, networkingv1.HTTPIngressPath{Path: pick(w, "/", "/a", "/a/b", "/(.*)"),
				PathType: new(pick(w, networkingv1.PathTypePrefix, networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific)), Backend: w.backend()})
		}
		ing.Spec.Rules = append(ing.Spec.Rules, rule)
	}
	if w.IntN(4) == 0 || len(ing.Spec.Rules) == 0 {
		ing.Spec.DefaultBackend = new(w.backend())
	}
	if w.IntN(3) == 0 {
		ing.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{pick(w, "h1.example", "*.example")}, SecretName: fmt.Sprint("n", w.IntN(4))}}
	}
	return ing
}

func (w *whim) backend() networkingv1.IngressBackend {
	return networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: fmt.Sprint("n", w.IntN(5)), Port: networkingv1.ServiceBackendPort{Number: pick(w, int32(80), 80, 81)}}}
}

func (w *whim) service() *corev1.Service {
	s := &corev1.Service{ObjectMeta: w.meta(5), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}}
	if w.IntN(6) == 0 {
		s.Spec.Type, s.Spec.ExternalName = corev1.ServiceTypeExternalName, pick(w, "else.example", "10.1.1.1", "127.0.0.1")
	}
	return s
}

func (w *whim) slice() *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: w.meta(9), AddressType: pick(w, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeFQDN),
		Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}}
	s.Labels = map[string]string{discoveryv1.LabelServiceName: fmt.Sprint("n", w.IntN(5))}
	for range w.IntN(3) {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprint("10.0.0.", 1+w.IntN(9))}})
	}
	return s
}

func (w *whim) endpoints() *corev1.Endpoints {
	return &corev1.Endpoints{ObjectMeta: w.meta(5), Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.2.2.2"}}, Ports: []corev1.EndpointPort{{Name: "http", Port: 8080}}}}}
}

func (w *whim) secret() *corev1.Secret {
	c := pick(w, w.certificates...)
	return &corev1.Secret{ObjectMeta: w.meta(4), Data: map[string][]byte{
		"tls.crt": []byte(c.Chain), "tls.key": []byte(c.Key), "ca.crt": []byte(c.Chain), "auth": []byte(pick(w, "me:{SHA}x", "you:{SHA}y"))}}
}

func (w *whim) class() *networkingv1.IngressClass {
	name := pick(w, "nginx", "inner")
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}}
	if name == "inner" {
		class.Spec.Parameters = &networkingv1.IngressClassParametersReference{Kind: "ConfigMap", Name: "inner", Namespace: new("sluice"), Scope: new("Namespace")}
	}
	return class
}

// lines are annotations that a Namespace or a ConfigMap gives to Ingresses.
func (w *whim) lines() string {
	var text strings.Builder
	for range 1 + w.IntN(3) {
		given := pick(w, annotated...)
		for _, key := range slices.Sorted(maps.Keys(given)) {
			fmt.Fprintf(&text, "%s: %s\n", key, given[key])
		}
	}
	return text.String()
}

// configMap has the settings, the settings of a class, or TCP services. The settings
// are never deleted for long, because their last content stays in force.
func (w *whim) configMap() *corev1.ConfigMap {
	name := pick(w, "config", "inner", "tcp")
	data := map[string]map[string]string{"config": pick(w,
		map[string]string{}, map[string]string{"host-ownership": "namespace"}, map[string]string{"proxy-read-timeout": "9"},
		map[string]string{"regex-scope": "path"}, map[string]string{"whitelist-source-range": "10.0.0.0/8"}),
		"inner": {"proxy-read-timeout": pick(w, "7", "8")}, "tcp": {pick(w, "9000", "9001"): pick(w, "a/n1:80", "b/n2:80", "nonsense")}}[name]
	if name != "tcp" && w.IntN(3) == 0 {
		data[pick(w, "default-annotations", "fixed-annotations")] = w.lines()
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: name}, Data: data}
}

// change adds, replaces or removes an object of a list.
func change[T any, P interface {
	*T
	metav1.Object
}](w *whim, list []P, fresh func() P) []P {
	list = slices.Clone(list)
	made := fresh()
	same := func(o P) bool { return o.GetName() == made.GetName() && o.GetNamespace() == made.GetNamespace() }
	at := slices.IndexFunc(list, same)
	switch {
	case at < 0:
		return slices.Insert(list, w.IntN(len(list)+1), made)
	case made.GetName() != "config" && w.IntN(3) == 0:
		list[at] = list[len(list)-1] // as a collection of package cluster does
		return list[:len(list)-1]
	}
	list[at] = made
	return list
}

// changes makes one change of any kind.
func (w *whim) changes(o *snapshot.Objects) (kind string) {
	kind = pick(w, "ingress", "ingress", "ingress", "service", "slice", "slice", "endpoints", "secret", "class", "configMap", "namespace", "order", "rename")
	switch kind {
	case "ingress":
		o.Ingresses = change(w, o.Ingresses, w.ingress)
	case "service":
		o.Services = change(w, o.Services, w.service)
	case "slice":
		o.EndpointSlices = change(w, o.EndpointSlices, w.slice)
	case "endpoints":
		if w.mirrors {
			o.Endpoints = change(w, o.Endpoints, w.endpoints)
		}
	case "secret":
		o.Secrets = change(w, o.Secrets, w.secret)
	case "class":
		o.IngressClasses = change(w, o.IngressClasses, w.class)
	case "configMap":
		o.ConfigMaps = change(w, o.ConfigMaps, w.configMap)
	case "namespace":
		o.Namespaces = change(w, o.Namespaces, func() *corev1.Namespace {
			given := map[string]string{claim.HostDelegation: pick(w, "a", "b")}
			if w.IntN(3) > 0 {
				given[pick(w, settings.NamespaceDefaults, settings.NamespaceFixed)] = w.lines()
			}
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pick(w, "a", "b"), Annotations: given}}
		})
	case "rename":
		before := w.release
		w.made++
		w.release = fmt.Sprint("-", w.made)
		o.Ingresses = slices.Clone(o.Ingresses)
		for i, ing := range o.Ingresses {
			ing = ing.DeepCopy()
			ing.Name = strings.TrimSuffix(ing.Name, before) + w.release
			o.Ingresses[i] = ing
		}
	case "order":
		o.Ingresses = slices.Clone(o.Ingresses)
		w.Shuffle(len(o.Ingresses), func(i, j int) { o.Ingresses[i], o.Ingresses[j] = o.Ingresses[j], o.Ingresses[i] })
	}
	return kind
}

// byChance returns random objects, and options for a controller.
func byChance(t *testing.T, seed uint64) (*whim, Options) {
	t.Helper()
	w := &whim{Rand: rand.New(rand.NewPCG(seed, 1)), mirrors: seed%3 == 0}
	for range 3 {
		c, err := selfsigned.Certificate(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w.certificates = append(w.certificates, c)
	}
	templates, err := templatedir.Open("", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return w, Options{
		Templates: templates,
		Translate: translate.Options{IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", WithoutClass: true, AnnotationsPrefix: "nginx.ingress.kubernetes.io",
			ConfigMap: snapshot.Name{Namespace: "sluice", Name: "config"}, TCPServices: snapshot.Name{Namespace: "sluice", Name: "tcp"},
			DefaultBackend: snapshot.Name{Namespace: "a", Name: "n0"}, FallbackCertificate: w.certificates[0], Passthrough: true,
			Memory: model.Memory{Backends: 1 << 20, Certificates: 1 << 20}},
		Environment: render.Environment{HTTPPort: 8080, HTTPSPort: 8443, StateDir: "/state", Lua: "/state/lua", Workers: 2},
	}
}

// answer is everything that is computed from objects.
type answer struct {
	File     string
	Dynamic  model.Dynamic
	Problems []model.Problem
	Accepted []string
}

// remembering computes answers with everything that is kept from one call to the next.
type remembering struct {
	snapshots snapshot.Builder
	memo      *translate.Memo
	cache     *render.Cache
	problems  model.Joined
}

func (r *remembering) answer(o Options, objects snapshot.Objects, replace map[snapshot.Name]*networkingv1.Ingress) answer {
	snap, unread := r.snapshots.Next(objects)
	snap = snap.WithIngresses(replace)
	config, found := translate.Config(snap, o.Translate, r.memo)
	file, unprintable := o.Templates.Current().Render(config.Static, o.Environment, r.cache)
	a := answer{File: string(file.Bytes()), Dynamic: config.Dynamic, Problems: r.problems.Join(first(snap.Ingresses()), found, unprintable, unread)}
	for _, ing := range r.memo.Accepted() {
		a.Accepted = append(a.Accepted, fmt.Sprint(ing.Namespace, "/", ing.Name, " ", ing.Generation))
	}
	return a
}

func newRemembering() *remembering {
	return &remembering{memo: translate.NewMemo(), cache: render.NewCache()}
}

// Any sequence of changes of any kind gives the same bytes, runtime state and Problems
// as a computation from nothing.
func TestChangesGiveWhatAllGives(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w, o := byChance(t, seed)
			kept := newRemembering()
			objects := snapshot.Objects{ConfigMaps: []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"}}}}
			for _, class := range []string{"nginx", "inner"} {
				objects.IngressClasses = append(objects.IngressClasses, &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}})
			}
			problems, files := map[int]bool{}, map[string]bool{}
			for step := range 150 {
				var kinds []string
				for range 1 + w.IntN(3) {
					kinds = append(kinds, w.changes(&objects))
				}
				replace := w.quarantine(&o, objects)
				if w.IntN(5) == 0 {
					kept.snapshots.Next(objects) // a look that no plan came of
				}
				got, want := kept.answer(o, objects, replace), newRemembering().answer(o, objects, replace)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("step %d, after changes of %v (-all anew +by the change):\n%s", step, kinds, diff)
				}
				problems[len(got.Problems)], files[got.File] = true, true
			}
			if len(problems) < 10 || len(files) < 50 {
				t.Errorf("%d numbers of Problems and %d files show little", len(problems), len(files))
			}
		})
	}
}

// quarantine sometimes denies an Ingress, leaves one out or serves another form.
func (w *whim) quarantine(o *Options, objects snapshot.Objects) map[snapshot.Name]*networkingv1.Ingress {
	o.Translate.Denied = nil
	if len(objects.Ingresses) == 0 || w.IntN(3) > 0 {
		return nil
	}
	ing := pick(w, objects.Ingresses...)
	switch w.IntN(3) {
	case 0:
		o.Translate.Denied = map[model.ObjectRef]claim.Denial{snapshot.RefOf(ing): claim.DenyPaths}
		return nil
	case 1:
		return map[snapshot.Name]*networkingv1.Ingress{nameOf(snapshot.RefOf(ing)): nil}
	}
	other := w.ingress()
	other.Namespace, other.Name = ing.Namespace, ing.Name
	return map[snapshot.Name]*networkingv1.Ingress{nameOf(snapshot.RefOf(ing)): other}
}
