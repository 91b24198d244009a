package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/nearby"
)

// set is Ingresses that share hosts which no other set has, and what is asked of
// them.
type set struct {
	// suffix is what the names of its hosts end in; "" for the catch-all host.
	suffix    string
	ingresses []*networkingv1.Ingress
	requests  []request
}

// setMaker makes one set.
type setMaker struct {
	*rand.Rand
	set   *set
	hosts []string
	// paths are those so far, as they are written; targets are what its requests
	// are made of.
	paths   []string
	targets []target
	// services are those that no rule has yet.
	services []string
	// asking is how likely an Ingress asks for patterns, in tenths.
	asking int
	// pathless is set where the catch-all host has no paths.
	pathless bool
}

// target is a path that was written for a host, and a maker of paths of requests
// that it may match.
type target struct {
	host    string
	example func() string
}

// The Services: each rule of a set has one of its own, so that the answer tells
// the rule. Sets share them, but not with the catch-all host.
const (
	setServices      = 40
	catchAllServices = 16
	// goneService does not exist.
	goneService = "gone"
	// fallbackService is the default backend, where there is one.
	fallbackService = "fallback"
	// namespace is that of all objects.
	namespace = "default"
)

func serviceName(number int) string { return "svc" + strconv.Itoa(number) }

// makeSet makes the set of a suffix.
func makeSet(r *rand.Rand, suffix string) *set {
	m := &setMaker{Rand: r, set: &set{suffix: suffix}, services: serviceNames(0, setServices)}
	m.hosts = m.pickHosts()
	if r.IntN(2) == 0 {
		m.asking = 4
	}
	for i := range 1 + r.IntN(6) {
		m.ingress(fmt.Sprintf("%s-%c", strings.Split(suffix, ".")[0], 'a'+i))
	}
	m.ask(20)
	return m.set
}

// makeCatchAll makes the Ingresses of the catch-all host of a file. Where it has
// no path, wildcard hosts do with names of too many labels what it does.
func makeCatchAll(r *rand.Rand) *set {
	m := &setMaker{Rand: r, set: &set{}, hosts: []string{""}, services: serviceNames(setServices, catchAllServices)}
	m.pathless = r.IntN(2) == 0
	if r.IntN(3) == 0 {
		m.asking = 4
	}
	for i := range r.IntN(4) {
		m.ingress(fmt.Sprintf("any-%c", 'a'+i))
	}
	m.ask(60)
	return m.set
}

func serviceNames(first, count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = serviceName(first + i)
	}
	return names
}

// pickHosts gives one to three names that overlap.
func (m *setMaker) pickHosts() []string {
	all := []string{"", "a.", "b.", "*.", "a.b.", "*.b.", "x.a.b.", "*.a.b."}
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	hosts := all[:1+m.IntN(3)]
	for i := range hosts {
		hosts[i] += m.set.suffix
	}
	return hosts
}

// oldest is when the first Ingresses were created.
var oldest = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const prefix = "nginx.ingress.kubernetes.io/"

// ingress adds an Ingress.
func (m *setMaker) ingress(name string) {
	class := "nginx"
	ing := &networkingv1.Ingress{
		TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Annotations: map[string]string{prefix + "ssl-redirect": "false"},
			CreationTimestamp: metav1.NewTime(oldest.Add(time.Duration(m.IntN(3)) * time.Minute)),
		},
		Spec: networkingv1.IngressSpec{IngressClassName: &class},
	}
	asks := m.IntN(10) < m.asking
	if asks {
		m.askForPatterns(ing.Annotations)
	}
	ruleless := m.set.suffix == "" && (m.pathless || m.IntN(3) == 0)
	if !ruleless {
		for _, host := range m.hosts[:1+m.IntN(len(m.hosts))] {
			m.rule(ing, host, asks)
		}
	}
	if ruleless || m.IntN(4) == 0 {
		ing.Spec.DefaultBackend = m.backend()
	}
	if m.set.suffix != "" && m.IntN(10) == 0 {
		m.redirect(ing)
	}
	if m.set.suffix != "" {
		m.elsewhere(ing)
	}
	switch m.IntN(40) {
	case 0:
		ing.Annotations[prefix+"allowlist-source-range"] = "nobody" // so that all of it answers 503
	case 1, 2, 3, 4, 5, 6, 7, 8:
		ing.Annotations[prefix+"allowlist-source-range"] = "127.0.0.0/8" // so that it must not be left out
	}
	m.set.ingresses = append(m.set.ingresses, ing)
}

// askForPatterns adds use-regex, rewrite-target or both.
func (m *setMaker) askForPatterns(annotations map[string]string) {
	choice := m.IntN(3)
	if choice != 0 {
		annotations[prefix+"use-regex"] = "true"
	}
	if choice != 1 {
		annotations[prefix+"rewrite-target"] = pick(m.Rand, []string{"/", "/$1", "/$2", "/x/$1", "/$1/y$2", "/app", "/foo", "/a/$1$3"})
	}
}

// redirect lets plain HTTP of the hosts of an Ingress be redirected.
func (m *setMaker) redirect(ing *networkingv1.Ingress) {
	delete(ing.Annotations, prefix+"ssl-redirect")
	if m.IntN(3) == 0 {
		ing.Annotations[prefix+"preserve-trailing-slash"] = "true"
	}
	if m.IntN(3) == 0 {
		ing.Annotations[prefix+"force-ssl-redirect"] = "true"
		return
	}
	ing.Spec.TLS = []networkingv1.IngressTLS{{SecretName: secretName, Hosts: slices.Clone(m.hosts)}}
}

// elsewhere gives some Ingresses further names of their hosts, and some redirects
// of their own.
func (m *setMaker) elsewhere(ing *networkingv1.Ingress) {
	switch m.IntN(20) {
	case 0, 1:
		name := strings.TrimSuffix(m.set.suffix, ".test")
		aliases := []string{"alias." + m.set.suffix, "*.alias." + m.set.suffix, "*.c.alias." + m.set.suffix, "." + m.set.suffix, "b." + m.set.suffix, name + ".alias.*", "d." + name + ".alias.*"}
		if m.IntN(20) == 0 {
			aliases = []string{"~^re[0-9]+\\." + name + "\\.test$"} // every unknown host is compared with it
		}
		m.Shuffle(len(aliases), func(i, j int) { aliases[i], aliases[j] = aliases[j], aliases[i] })
		ing.Annotations[prefix+"server-alias"] = strings.Join(aliases[:1+m.IntN(min(3, len(aliases)))], ",")
		for _, host := range []string{"alias.", "e.alias.", "f.c.alias.", "re1.", "rex.", ""} {
			m.targets = append(m.targets, target{host + m.set.suffix, func() string { return pick(m.Rand, literals) }})
		}
		for _, host := range []string{name + ".alias.org", name + ".alias.example.org", "d." + name + ".alias.org", name + ".alias."} {
			m.targets = append(m.targets, target{host, func() string { return pick(m.Rand, literals) }})
		}
	case 2:
		ing.Annotations[prefix+"app-root"] = pick(m.Rand, []string{"/app", "/foo/"})
	case 3:
		ing.Annotations[prefix+pick(m.Rand, []string{"permanent-redirect", "temporal-redirect"})] = "https://elsewhere.test/x"
	}
}

// rule adds one host with its paths, in a few cases without any.
func (m *setMaker) rule(ing *networkingv1.Ingress, host string, asks bool) {
	rule := networkingv1.IngressRule{Host: host}
	m.targets = append(m.targets, target{host, func() string { return "/" }})
	if m.IntN(20) > 0 {
		rule.HTTP = &networkingv1.HTTPIngressRuleValue{}
		for range 1 + m.IntN(4) {
			rule.HTTP.Paths = append(rule.HTTP.Paths, m.path(host, asks))
		}
	}
	ing.Spec.Rules = append(ing.Spec.Rules, rule)
}

// path writes one path. Those that ask for patterns write patterns mostly.
func (m *setMaker) path(host string, asks bool) networkingv1.HTTPIngressPath {
	kinds := []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific}
	kind := pick(m.Rand, kinds)
	if asks && m.IntN(2) == 0 {
		kind = networkingv1.PathTypeImplementationSpecific
	}
	text, example := "", func() string { return "/" }
	switch {
	case asks && m.IntN(4) > 0:
		text, example = newPattern(m.Rand)
	case kind == networkingv1.PathTypeImplementationSpecific && m.IntN(20) == 0: // no path is "/"
	default:
		text = m.literal(asks)
		example = func() string { return text }
	}
	m.targets = append(m.targets, target{host, example})
	return networkingv1.HTTPIngressPath{Path: text, PathType: &kind, Backend: *m.backend()}
}

// The paths that others are made of. Those of the second list do not compile as
// patterns.
var (
	literals = []string{
		"/", "/", "/foo", "/foo", "/foo/", "/foo/bar", "/foo/bar/", "/Foo", "/FOO/bar", "/bar", "/foobar", "/a", "/a/", "/a/b", "/a/b/c/d",
		"/a%20b", "/a b", "/ünï", "/ünï/", "/%C3%BCn", "/a.b", "/.well-known/x", "/...", "/a..b", "/.a/", "/$x", "/foo$", "/^foo", `/a"b`, "/a'b", `/a\\b`, `/\d`,
		"/%41", "/a%2fb", "/foo%2F", "/a;b", "/a{b}", "/a#b", "/a?b", "/a+b", "/a*b", "/a|b", "/~x", "/a,b=c:d@e!", "/a%25b", "/a%3fb", "/foo(bar)?", "/<x>", "/a%22",
		"//x", "/foo//bar", "/foo/./bar", "/foo/../bar", "/.", "/..", "/%zz", "/a%", "/a%0ab", "/[a-z]", "/.*", "/x.+", "/" + strings.Repeat("long", 60), "/" + strings.Repeat("/ab", 99)[1:],
	}
	unbalanced = []string{"/(a", "/[b", "/a)", "/**", "/a{2,1}", `/a\`, "/(?x", "/a++b", "/[z-a]", "/(?=x)"}
)

// literal writes a path that is no pattern, often near one that is there.
func (m *setMaker) literal(asks bool) string {
	switch {
	case !asks && m.IntN(20) == 0:
		return pick(m.Rand, unbalanced)
	case m.IntN(4) == 0:
		return crowded(m.Rand)
	case len(m.paths) == 0 || m.IntN(2) == 0:
		path := pick(m.Rand, literals)
		m.paths = append(m.paths, path)
		return path
	}
	path := near(m.Rand, pick(m.Rand, m.paths))
	m.paths = append(m.paths, path)
	return path
}

// crowded writes a path of a and b, of which many begin alike. A few are longer
// than what nginx keeps in one node of its tree.
func crowded(r *rand.Rand) string {
	length := r.IntN(7)
	if r.IntN(10) == 0 {
		length = 250 + r.IntN(10) + 255*r.IntN(2)
	}
	var out strings.Builder
	for out.WriteByte('/'); out.Len() <= length; {
		out.WriteString(pick(r, []string{"a", "a", "b", "aa", "b/", "a/"}))
		if length > 100 && r.IntN(3) > 0 {
			out.WriteString(pick(r, []string{strings.Repeat("ab", 20), strings.Repeat("ü", 15)}))
		}
	}
	return out.String()
}

// near writes a path that is the same, or next to another one.
func near(r *rand.Rand, path string) string {
	switch r.IntN(7) {
	case 0:
		return path // in conflict
	case 1:
		return strings.TrimSuffix(path, "/") + "/"
	case 2:
		return "/" + strings.Trim(path, "/")
	case 3:
		return nearby.SwapCase(path)
	case 4:
		return strings.TrimSuffix(path, "/") + "/bar"
	case 5:
		return strings.TrimSuffix(path, "/") + "x"
	}
	return "/foo" + path
}

// backend is a Service that no other rule has, in a few cases one that is not
// there.
func (m *setMaker) backend() *networkingv1.IngressBackend {
	name := goneService
	if len(m.services) > 0 && m.IntN(40) > 0 {
		name, m.services = m.services[0], m.services[1:]
	}
	if m.IntN(100) == 0 {
		return &networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{Kind: "Bucket", Name: "icons"}}
	}
	return &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Number: 80}}}
}
