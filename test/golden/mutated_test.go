package golden

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/test/guarded"
)

// Whatever is wrong with the objects of the cases, each path of an Ingress that
// protects its paths is served with that, closed, or fairly won by another. What is
// asked for is read from the objects, and not by the code that places it.
func TestMutatedCasesStayGuarded(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var protected atomic.Int64
	t.Run("cases", func(t *testing.T) {
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				c := readCase(t, path)
				if _, ok := c.section("lint"); ok {
					return // its objects need not decode
				}
				memo := guarded.NewMemo()
				for seed := range uint64(8) {
					protected.Add(int64(c.mutate(t, memo, seed)))
				}
			})
		}
	})
	if protected.Load() < 3_000 {
		t.Errorf("only %d paths were protected: this shows little", protected.Load())
	}
}

// mutate wants a case whose objects are spoiled to stay guarded, and gives how many
// of its paths are protected.
func (c *testCase) mutate(t *testing.T, memo *guarded.Memo, seed uint64) (protected int) {
	t.Helper()
	objects := c.manifests(t).Objects
	if len(objects.Ingresses) == 0 {
		return 0
	}
	for i, ing := range objects.Ingresses {
		objects.Ingresses[i] = ing.DeepCopy()
	}
	options := c.options(t, objects)
	m := mutation{Objects: &objects, options: &options, random: rand.New(rand.NewPCG(seed, sum(c.path)))}
	m.all()
	snap, problems := snapshot.New(objects)
	config, more := translate.Config(snap, options, nil)
	problems = append(problems, more...)
	for _, h := range memo.Hosts(snap, options, problems) {
		for _, claim := range h.Claims {
			if claim.Protects {
				protected++
			}
		}
	}
	if lines := memo.Open(snap, options, config.Static.Servers, problems); len(lines) > 0 {
		t.Errorf("seed %d: %s\n%s", seed, strings.Join(m.done, "; "), strings.Join(lines, "\n"))
	}
	return protected
}

func sum(text string) uint64 {
	h := fnv.New64()
	h.Write([]byte(text))
	return h.Sum64()
}

// mutation spoils the objects of a case.
type mutation struct {
	*snapshot.Objects
	options *translate.Options
	random  *rand.Rand
	done    []string
}

func (m *mutation) all() {
	locked := m.ingress()
	m.annotate(locked, pick(m.random, [][2]string{
		{"whitelist-source-range", "192.0.2.0/24"}, {"allowlist-source-range", "nonsense"}, {"denylist-source-range", "192.0.2.1"}, {"auth-url", "http://auth.example/"}, {"whitelist-source-ranges", "192.0.2.1"},
	}))
	if m.random.IntN(2) == 0 {
		m.neighbour(locked)
	}
	steps := []func(*networkingv1.Ingress){m.spoilPath, m.spoilPath, m.spoilType, m.spoilBackend, m.turn, m.rename, m.deny, m.dropServices, m.age, m.flag, m.setting, m.alias, m.fallback, m.twin, m.twin}
	for range 1 + m.random.IntN(4) {
		of := locked
		if m.random.IntN(3) == 0 {
			of = m.ingress()
		}
		pick(m.random, steps)(of)
	}
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

func (m *mutation) say(format string, args ...any) {
	m.done = append(m.done, fmt.Sprintf(format, args...))
}

// ingress gives one that may be changed.
func (m *mutation) ingress() *networkingv1.Ingress { return pick(m.random, m.Ingresses) }

func (m *mutation) annotate(ing *networkingv1.Ingress, pair [2]string) {
	if ing.Annotations == nil {
		ing.Annotations = map[string]string{}
	}
	ing.Annotations["nginx.ingress.kubernetes.io/"+pair[0]] = pair[1]
	m.say("%s has %s=%q", ing.Name, pair[0], pair[1])
}

// neighbour adds an Ingress of another or the same namespace that has / of the hosts.
func (m *mutation) neighbour(of *networkingv1.Ingress) {
	other := of.DeepCopy()
	other.Name, other.Annotations, other.Spec.DefaultBackend, other.UID = "neighbour", nil, nil, "neighbour"
	other.Namespace = pick(m.random, []string{of.Namespace, "elsewhere"})
	other.CreationTimestamp = metav1.NewTime(of.CreationTimestamp.Add(time.Duration(m.random.IntN(3)-1) * time.Hour))
	prefix := networkingv1.PathTypePrefix
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	for i := range other.Spec.Rules {
		other.Spec.Rules[i].HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &prefix, Backend: backend}}}
	}
	m.Ingresses = append(m.Ingresses, other)
	m.say("%s/neighbour has / of its hosts", other.Namespace)
}

// path gives one of an Ingress, nil where there is none.
func (m *mutation) path(ing *networkingv1.Ingress) *networkingv1.HTTPIngressPath {
	var all []*networkingv1.HTTPIngressPath
	for i := range ing.Spec.Rules {
		if http := ing.Spec.Rules[i].HTTP; http != nil {
			for j := range http.Paths {
				all = append(all, &http.Paths[j])
			}
		}
	}
	if len(all) == 0 {
		return &networkingv1.HTTPIngressPath{}
	}
	return pick(m.random, all)
}

func (m *mutation) spoilPath(ing *networkingv1.Ingress) {
	p := m.path(ing)
	p.Path = pick(m.random, []string{
		"/a//b", "/a/../b", "/%zz", "/(a", "/a\x01b", "/a\nb", "admin", "", "/a(?R)?", "/(a|b)/\\g1", "/(*ACCEPT)", "/" + strings.Repeat("x", 5_000), "/[", "/a%2fb", "/é", "/ADMIN", "/a/", p.Path + "/deeper", p.Path + "(.*)", "/",
	})
	m.say("%s has the path %.40q", ing.Name, p.Path)
}

// twin adds a path to an Ingress that takes requests of one that it has, or is near to
// it, and protects only one of the two.
func (m *mutation) twin(ing *networkingv1.Ingress) {
	if len(ing.Spec.Rules) == 0 {
		return
	}
	http := ing.Spec.Rules[m.random.IntN(len(ing.Spec.Rules))].HTTP
	if http == nil || len(http.Paths) == 0 || !strings.HasPrefix(http.Paths[0].Path, "/") {
		return
	}
	added := *pick(m.random, []*networkingv1.HTTPIngressPath{&http.Paths[0], &http.Paths[len(http.Paths)-1]})
	own := added.Path
	rest := strings.TrimPrefix(own, "/")
	added.Path = pick(m.random, []string{own + "/", strings.TrimSuffix(own, "/"), "/%" + fmt.Sprintf("%x", (rest + "a")[0]) + rest[min(1, len(rest)):], strings.ToUpper(own), "/./" + rest, "/(?i)" + rest, own + ".*", "/[a-z]+.*", "/.*", own + "/x"})
	http.Paths = slices.Insert(slices.Clone(http.Paths), m.random.IntN(len(http.Paths)+1), added)
	line := pick(m.random, []string{added.Path, own})
	if ing.Annotations == nil {
		ing.Annotations = map[string]string{}
	}
	key := pick(m.random, []string{"allowlist-source-range", "denylist-source-range"})
	ing.Annotations[annotations.PathsPrefix+key] = line + ": 192.0.2.1"
	m.say("%s has %.40q beside %.40q, and %s for %.40q", ing.Name, added.Path, own, key, line)
}

func (m *mutation) spoilType(ing *networkingv1.Ingress) {
	kind := pick(m.random, []networkingv1.PathType{"Exact", "Prefix", "ImplementationSpecific", "Mixed", ""})
	p := m.path(ing)
	p.PathType = &kind
	m.say("%s has %.40q as %q", ing.Name, p.Path, kind)
}

func (m *mutation) spoilBackend(ing *networkingv1.Ingress) {
	m.path(ing).Backend = pick(m.random, []networkingv1.IngressBackend{
		{}, {Resource: &corev1.TypedLocalObjectReference{Kind: "Bucket", Name: "b"}}, {Service: &networkingv1.IngressServiceBackend{Name: "gone"}}, {Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Name: "gone"}}},
	})
	m.say("%s has a bad backend", ing.Name)
}

func (m *mutation) turn(ing *networkingv1.Ingress) {
	m.annotate(ing, pick(m.random, [][2]string{{"use-regex", "true"}, {"use-regex", "maybe"}, {"rewrite-target", "/$1"}, {"rewrite-target", "no slash"}, {"app-root", "/x"}, {"permanent-redirect", "https://x.example"}, {"ssl-passthrough", "true"}}))
}

func (m *mutation) rename(ing *networkingv1.Ingress) {
	if len(ing.Spec.Rules) > 0 {
		host := pick(m.random, []string{"", "shop.example", "*.example", "*.shop.example", "Shop.example", "10.0.0.1", "a..b", "*"})
		pick(m.random, []*networkingv1.IngressRule{&ing.Spec.Rules[0], &ing.Spec.Rules[len(ing.Spec.Rules)-1]}).Host = host
		m.say("%s has the host %q", ing.Name, host)
	}
}

func (m *mutation) deny(ing *networkingv1.Ingress) {
	denial := pick(m.random, []claim.Denial{claim.DenyPaths, claim.DenyBeginnings})
	m.options.Denied = map[model.ObjectRef]claim.Denial{{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name}: denial}
	m.say("%s is denied by %d", ing.Name, denial)
}

func (m *mutation) dropServices(*networkingv1.Ingress) {
	m.Services, m.Secrets = nil, nil
	m.say("there is no Service and no Secret")
}

func (m *mutation) age(ing *networkingv1.Ingress) {
	ing.CreationTimestamp = metav1.NewTime(time.Date(2020+m.random.IntN(10), 1, 1, 0, 0, 0, 0, time.UTC))
	m.say("%s is of %d", ing.Name, ing.CreationTimestamp.Year())
}

func (m *mutation) flag(*networkingv1.Ingress) {
	switch m.random.IntN(4) {
	case 0:
		m.options.DisableCatchAll = true
		m.say("--disable-catch-all")
	case 1:
		m.options.HealthPath = pick(m.random, []string{"/healthz", "/", "/admin"})
		m.say("--health-check-path=%s", m.options.HealthPath)
	case 2:
		m.options.RequireConfigMap = true
		m.say("--require-configmap")
	default:
		m.options.Passthrough = true
		m.say("--enable-ssl-passthrough")
	}
}

func (m *mutation) setting(*networkingv1.Ingress) {
	pair := pick(m.random, [][2]string{{"regex-scope", "path"}, {"host-ownership", "namespace"}, {"trailing-slash-redirect", "true"}, {"whitelist-source-range", "nonsense"}, {"annotations-risk-level", "Low"}, {"strict-validate-path-type", "true"}})
	m.options.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "mutated"}
	m.ConfigMaps = append(m.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "mutated"}, Data: map[string]string{pair[0]: pair[1]}})
	m.say("the setting %s=%s", pair[0], pair[1])
}

func (m *mutation) alias(ing *networkingv1.Ingress) {
	m.annotate(ing, [2]string{"server-alias", pick(m.random, []string{"~^.*$", "~(", "shop.example", "*.example", "a b, alias.example", "10.0.0.1"})})
}

func (m *mutation) fallback(ing *networkingv1.Ingress) {
	ing.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	if m.random.IntN(4) == 0 {
		ing.Spec.Rules = slices.Clone(ing.Spec.Rules[:0])
	}
	m.say("%s has a spec.defaultBackend and %d rules", ing.Name, len(ing.Spec.Rules))
}
