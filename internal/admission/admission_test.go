package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"sluice/internal/lint"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// optionsFor are those of a controller with ingress-nginx's defaults.
func optionsFor(t testing.TB) lint.Options {
	t.Helper()
	set, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	return lint.Options{
		Translate: translate.Options{
			IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io", HealthPath: "/healthz",
			ConfigMap: snapshot.Name{Namespace: "sluice", Name: "settings"},
		},
		Templates: set,
		Environment: render.Environment{
			HTTPPort: 80, HTTPSPort: 443, Workers: 1, OpenFiles: 1 << 20, MostOpenFiles: 1 << 20, StateDir: "/state", Lua: "/lua", Token: "TOKEN",
			Capabilities: render.Capabilities{HTTP2Directive: true, Stream: true, SSLPreread: true, StreamRealIP: true},
		},
	}
}

// objects decodes manifests.
func objects(t testing.TB, text string) snapshot.Objects {
	t.Helper()
	var reader decode.Reader
	found, _, err := reader.Read("manifests.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ingress is an Ingress of the class nginx. A path is "HOST/PATH SERVICE".
func ingress(name, annotations string, paths ...string) string {
	var rules strings.Builder
	for _, path := range paths {
		at, service, _ := strings.Cut(path, " ")
		host, path, _ := strings.Cut(at, "/")
		fmt.Fprintf(&rules, "\n  - host: %q\n    http: {paths: [{path: \"/%s\", pathType: Prefix, backend: {service: {name: %s, port: {number: 80}}}}]}", host, path, service)
	}
	namespace, name, _ := strings.Cut(name, "/")
	return fmt.Sprintf("---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: %s, namespace: %s, annotations: {%s}}\nspec:\n  ingressClassName: nginx\n  rules:%s\n", name, namespace, annotations, rules.String())
}

const (
	class = "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: k8s.io/ingress-nginx}\n"
	other = "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: other}\nspec: {controller: example.com/other}\n"
	web   = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n"
)

// stored is a basis with objects, whose Ingresses are of different ages, the first the oldest.
func stored(t testing.TB, text string) Basis {
	t.Helper()
	all := objects(t, text)
	for i, object := range all.Ingresses {
		object.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC))
	}
	snap, problems := snapshot.New(all)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return Basis{Snapshot: snap, Options: optionsFor(t)}
}

func one(t testing.TB, text string) *networkingv1.Ingress {
	t.Helper()
	return objects(t, text).Ingresses[0]
}

func TestReview(t *testing.T) {
	t.Parallel()
	settings := func(data string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: sluice}\ndata: {" + data + "}\n"
	}
	held := ingress("shop/old", "", "a.example/cart web")
	for name, c := range map[string]struct {
		stored, object   string
		rejected, warned string // parts of the only text; "" for none
	}{
		"a sound one":             {object: ingress("shop/new", "", "a.example/ web")},
		"a bad value":             {object: ingress("shop/new", "nginx.ingress.kubernetes.io/limit-rps: many", "a.example/ web"), rejected: "limit-rps"},
		"a bad value that denies": {object: ingress("shop/new", "nginx.ingress.kubernetes.io/whitelist-source-range: everyone", "a.example/ web"), rejected: "whitelist-source-range"},
		"a near miss":             {object: ingress("shop/new", "nginx.ingress.kubernetes.io/auth-urll: http://x/", "a.example/ web"), rejected: "auth-urll"},
		"an unknown annotation":   {object: ingress("shop/new", "nginx.ingress.kubernetes.io/no-such-thing: x", "a.example/ web"), warned: "no-such-thing"},
		"a snippet, while none may be used": {object: ingress("shop/new", "nginx.ingress.kubernetes.io/configuration-snippet: expires 1h;", "a.example/ web"),
			rejected: "configuration-snippet"},
		"an injection":                      {object: ingress("shop/new", "nginx.ingress.kubernetes.io/auth-url: \"http://x/;}\\n}\"", "a.example/ web"), rejected: "auth-url"},
		"a missing Service":                 {stored: held, object: ingress("shop/new", "", "b.example/ nowhere"), warned: "nowhere"},
		"a Service of a namespace unread":   {object: ingress("fresh/new", "", "b.example/ nowhere")},
		"a Secret that may come":            {stored: held, object: ingress("shop/new", "nginx.ingress.kubernetes.io/auth-secret: later, nginx.ingress.kubernetes.io/auth-type: basic", "b.example/ web")},
		"a path of another":                 {stored: held, object: ingress("shop/new", "", "a.example/cart web"), rejected: "Ingress shop/old"},
		"a path below that of another":      {stored: held, object: ingress("shop/new", "", "a.example/cart/items web")},
		"the same path of another host":     {stored: held, object: ingress("shop/new", "", "b.example/cart web")},
		"a canary":                          {stored: held, object: ingress("shop/new", "nginx.ingress.kubernetes.io/canary: 'true', nginx.ingress.kubernetes.io/canary-weight: '5'", "a.example/cart web")},
		"a path handed over":                {stored: ingress("shop/old", "sluice.io/hand-over: team/new", "a.example/cart web"), object: ingress("team/new", "", "a.example/cart web"), warned: "Ingress shop/old"},
		"a path handed over to another one": {stored: ingress("shop/old", "sluice.io/hand-over: team/new", "a.example/cart web"), object: ingress("shop/new", "", "a.example/cart web"), rejected: "Ingress shop/old"},
		"too many paths by itself":          {stored: settings("max-paths-per-namespace: '1'"), object: ingress("shop/new", "", "a.example/ web", "a.example/x web"), rejected: "max-paths-per-namespace"},
		"too many hosts with older ones":    {stored: settings("max-hosts-per-namespace: '1'") + held, object: ingress("shop/new", "", "a.example/x web", "b.example/ web"), rejected: "max-hosts-per-namespace"},
		"too many paths with older ones":    {stored: settings("max-paths-per-namespace: '1'") + held, object: ingress("shop/new", "", "a.example/x web"), warned: "max-paths-per-namespace"},
		"a target elsewhere":                {stored: settings("target-scope: namespace"), object: ingress("shop/new", "nginx.ingress.kubernetes.io/auth-url: 'http://auth.team.svc/'", "a.example/ web"), rejected: "target-scope"},
		"a copy elsewhere":                  {stored: settings("target-scope: namespace"), object: ingress("fresh/new", "nginx.ingress.kubernetes.io/mirror-target: 'http://10.0.0.1/'", "a.example/ nowhere"), rejected: "target-scope"},
		"a host of another namespace": {stored: settings("host-ownership: namespace") + held, object: ingress("team/new", "", "a.example/x web"),
			rejected: "shop"},
		"a name and its wildcard as an alias": {stored: ingress("shop/old", "", "a.example/ web"), object: ingress("shop/new", "nginx.ingress.kubernetes.io/server-alias: .a.example", "c.example/ web"), rejected: "Ingress shop/old"},
		"a name below such an alias":          {stored: ingress("shop/old", "nginx.ingress.kubernetes.io/server-alias: .b.example", "a.example/ web"), object: ingress("team/new", "", "b.example/ web"), rejected: "is the host of Ingress team/new"},
		"a challenge of an alias":             {stored: ingress("shop/old", "nginx.ingress.kubernetes.io/server-alias: b.example", "a.example/ web"), object: ingress("shop/new", "", "b.example/.well-known/acme-challenge/t web"), warned: "is the host of Ingress shop/new"},
		"a challenge of a redirected name":    {stored: ingress("shop/old", "nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'", "a.example/ web"), object: ingress("shop/new", "", "www.a.example/.well-known/acme-challenge/t web"), warned: "is served as Ingress shop/new says"},
		"a redirected name of another namespace": {stored: ingress("shop/old", "nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'", "a.example/ web"), object: ingress("team/new", "", "www.a.example/ web"),
			rejected: "is served as Ingress team/new says"},
		"a redirected name as an alias": {stored: ingress("shop/old", "nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'", "a.example/ web"), object: ingress("shop/new", "nginx.ingress.kubernetes.io/server-alias: www.a.example", "c.example/ web"),
			rejected: "is served as Ingress shop/new says"},
		"an alias of another": {stored: ingress("shop/old", "nginx.ingress.kubernetes.io/server-alias: b.example", "a.example/ web"), object: ingress("shop/new", "nginx.ingress.kubernetes.io/server-alias: b.example", "c.example/ web"),
			rejected: "Ingress shop/old"},
		"some requests of a path of another": {stored: ingress("team/old", "", "a.example/ web"), object: ingress("shop/new", "sluice.io/match-headers: 'User-Agent: ~.*'", "a.example/cart web"),
			rejected: "namespace team has this path"},
		"some requests of a path of its own": {stored: held, object: ingress("shop/new", "sluice.io/match-headers: 'User-Agent: ~.*'", "a.example/cart web")},
		"a catch-all of another":             {stored: ingress("shop/old", "", "/x web"), object: ingress("shop/new", "", "/x web"), rejected: "Ingress shop/old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := stored(t, class+web+c.stored)
			v := New().Review(b, one(t, c.object), nil)
			if !v.Ours {
				t.Error("it is not ours")
			}
			sayOnly(t, "rejected", v.Rejections, c.rejected)
			sayOnly(t, "warned", v.Warnings, c.warned)
		})
	}
}

// sayOnly checks that one Problem says something, or that there is none.
func sayOnly(t *testing.T, what string, problems []model.Problem, part string) {
	t.Helper()
	switch {
	case part == "" && len(problems) == 0:
	case part == "" || len(problems) != 1 || !strings.Contains(problems[0].Field+" "+problems[0].Text, part):
		t.Errorf("%s: want %q, got %v", what, part, problems)
	}
}

func TestOthersAreNotJudged(t *testing.T) {
	t.Parallel()
	b := stored(t, class+other+web)
	for name, change := range map[string]func(*networkingv1.Ingress){
		"another class": func(i *networkingv1.Ingress) { i.Spec.IngressClassName = new("other") },
		"no class":      func(i *networkingv1.Ingress) { i.Spec.IngressClassName = nil },
	} {
		object := one(t, ingress("shop/new", "nginx.ingress.kubernetes.io/limit-rps: many", "a.example/ web"))
		change(object)
		if v := New().Review(b, object, nil); v.Ours || len(v.Rejections)+len(v.Warnings) > 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestNamespacesOfOthers: an Ingress of a namespace that is not served is not judged.
func TestNamespacesOfOthers(t *testing.T) {
	t.Parallel()
	b := stored(t, class+web+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: web}}\n")
	bad := one(t, ingress("shop/new", "nginx.ingress.kubernetes.io/limit-rps: many", "a.example/ web"))
	for name, c := range map[string]struct {
		watch snapshot.Watch
		ours  bool
	}{
		"all":                {snapshot.Watch{}, true},
		"it":                 {snapshot.Watch{Namespace: "shop"}, true},
		"another":            {snapshot.Watch{Namespace: "team"}, false},
		"a selector of it":   {snapshot.Watch{Selector: labels.SelectorFromSet(labels.Set{"team": "web"})}, true},
		"a selector without": {snapshot.Watch{Selector: labels.SelectorFromSet(labels.Set{"team": "db"})}, false},
	} {
		b.Options.Watch = c.watch
		if v := New().Review(b, bad, nil); v.Ours != c.ours || len(v.Rejections) > 0 != c.ours {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestWhatIsWrongAlready: an Ingress that is stored with a Problem may be changed elsewhere, as
// controllers do, but not get another Problem.
func TestWhatIsWrongAlready(t *testing.T) {
	t.Parallel()
	bad := "nginx.ingress.kubernetes.io/limit-rps: many"
	b := stored(t, class+web+ingress("shop/a", bad, "a.example/ web")+ingress("shop/b", "", "b.example/ web")+ingress("shop/c", "", "b.example/c web"))
	former := b.Snapshot.Ingress(snapshot.Name{Namespace: "shop", Name: "a"})
	labelled := former.DeepCopy()
	labelled.Labels = map[string]string{"team": "shop"}
	r := New()
	if v := r.Review(b, labelled, former); len(v.Rejections) > 0 || len(v.Warnings) != 1 {
		t.Errorf("a label: %+v", v)
	}
	worse := former.DeepCopy()
	worse.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"] = "huge"
	sayOnly(t, "another bad value", r.Review(b, worse, former).Rejections, "proxy-body-size")
	// It is the oldest, so that the conflict is that of the other.
	taking := former.DeepCopy()
	taking.Spec.Rules[0].Host = "b.example"
	sayOnly(t, "a path of a younger one", r.Review(b, taking, former).Rejections, "Ingress shop/a")
}

// TestWarningsAreSorted: also if some are those of another Ingress, whose name comes later.
func TestWarningsAreSorted(t *testing.T) {
	t.Parallel()
	b := stored(t, class+web+ingress("shop/old", "nginx.ingress.kubernetes.io/server-alias: b.example", "a.example/ web"))
	v := New().Review(b, one(t, ingress("shop/new", "nginx.ingress.kubernetes.io/no-such-thing: x", "b.example/ web")), nil)
	if len(v.Warnings) != 2 || !slices.IsSortedFunc(v.Warnings, model.Problem.Compare) {
		t.Errorf("%v", v.Warnings)
	}
}

// TestWhatMoves: a Problem that is there already stays the same if other paths come, go or change
// places, also if it is that of another Ingress. One about something else is new.
func TestWhatMoves(t *testing.T) {
	t.Parallel()
	tls := func(manifest, entries string) string {
		return strings.Replace(manifest, "  rules:", "  tls: ["+entries+"]\n  rules:", 1)
	}
	const entry, other = "{hosts: [w.example], secretName: mine}", "{hosts: [x.example], secretName: more}"
	const limit = "nginx.ingress.kubernetes.io/limit-rps: "
	holder := tls(ingress("shop/old", "", "w.example/b web", "w.example/c web", "w.example/d[1] web", "w.example/d[2] web"), "{hosts: [w.example], secretName: theirs}")
	for name, c := range map[string]struct{ stored, former, object, rejected string }{
		"a path in front": {holder, ingress("shop/web", "", "w.example/a web", "w.example/b web"), ingress("shop/web", "", "w.example/new web", "w.example/a web", "w.example/b web"), ""},
		"a path goes":     {holder, ingress("shop/web", "", "w.example/a web", "w.example/b web"), ingress("shop/web", "", "w.example/b web"), ""},
		"another order":   {holder, ingress("shop/web", "", "w.example/a web", "w.example/b web", "w.example/c web"), ingress("shop/web", "", "w.example/c web", "w.example/b web", "w.example/a web"), ""},
		"a second conflict": {holder, ingress("shop/web", "", "w.example/a web", "w.example/b web"), ingress("shop/web", "", "w.example/c web", "w.example/a web", "w.example/b web"),
			"spec.rules[0].http.paths[0]"},
		"another conflict in its place": {holder, ingress("shop/web", "", "w.example/b web"), ingress("shop/web", "", "w.example/c web"), "Prefix /c"},
		"indices in a path":             {holder, ingress("shop/web", "", "w.example/d[1] web"), ingress("shop/web", "", "w.example/d[2] web"), "d[2]"},
		"the loser, a path in front":    {"", ingress("shop/web", "", "w.example/b web") + ingress("team/late", "", "w.example/b web"), ingress("shop/web", "", "w.example/new web", "w.example/b web"), ""},
		"the loser loses more": {"", ingress("shop/web", "", "w.example/b web") + ingress("team/late", "", "w.example/b web", "w.example/c web"), ingress("shop/web", "", "w.example/c web", "w.example/b web"),
			"Prefix /c"},
		"TLS in front":        {holder, tls(ingress("shop/web", "", "w.example/a web", "x.example/ web"), entry), tls(ingress("shop/web", "", "w.example/a web", "x.example/ web"), other+", "+entry), ""},
		"a bad value":         {"", ingress("shop/web", limit+"many", "w.example/b web"), ingress("shop/web", limit+"many", "w.example/new web", "w.example/b web"), ""},
		"another bad value":   {"", ingress("shop/web", limit+"many", "w.example/b web"), ingress("shop/web", limit+"more", "w.example/b web"), "more"},
		"values with indices": {"", ingress("shop/web", limit+"'spec.rules[1]'", "w.example/b web"), ingress("shop/web", limit+"'spec.rules[2]'", "w.example/b web"), "spec.rules[2]"},
	} {
		b := stored(t, class+web+c.stored+c.former)
		former := b.Snapshot.Ingress(snapshot.Name{Namespace: "shop", Name: "web"})
		object := one(t, c.object)
		object.CreationTimestamp = former.CreationTimestamp
		sayOnly(t, name, New().Review(b, object, former).Rejections, c.rejected)
	}
}

// TestAlone: without the full test, others do not count.
func TestAlone(t *testing.T) {
	t.Parallel()
	b := stored(t, class+web+ingress("shop/old", "", "a.example/ web"))
	b.Alone = true
	if v := New().Review(b, one(t, ingress("shop/new", "", "a.example/ web")), nil); len(v.Rejections) > 0 || v.Beside != 0 {
		t.Errorf("%+v", v)
	}
}

// TestNamesFollowSnapshots: the result does not depend on the snapshots before.
func TestNamesFollowSnapshots(t *testing.T) {
	t.Parallel()
	texts := []string{
		ingress("shop/old", "", "a.example/ web"), "", ingress("shop/old", "", "b.example/ web"),
		ingress("shop/old", "nginx.ingress.kubernetes.io/server-alias: 'x.example,~^y[.]example$'", "b.example/ web"),
		ingress("shop/old", "", "*.a.example/ web") + ingress("shop/more", "", "www.a.example/ web"), ingress("shop/more", "", "a.example/ web"),
	}
	candidates := []*networkingv1.Ingress{
		one(t, ingress("shop/new", "", "a.example/ web")), one(t, ingress("shop/new", "", "*.a.example/ web")), one(t, ingress("shop/new", "", "z.a.example/ web")),
		one(t, ingress("shop/new", "", "x.example/ web")), one(t, ingress("shop/new", "", "www.a.example/ web")), one(t, ingress("shop/new", "", "q.example/ web")),
	}
	kept := New()
	var builder snapshot.Builder
	for _, text := range texts {
		snap, _ := builder.Next(objects(t, class+web+text))
		b := Basis{Snapshot: snap, Options: optionsFor(t)}
		for _, candidate := range candidates {
			was, fresh := kept.Review(b, candidate, nil), New().Review(b, candidate, nil)
			if diff := cmp.Diff(fresh, was); diff != "" {
				t.Errorf("%s beside %q: (-fresh +kept)\n%s", candidate.Spec.Rules[0].Host, text, diff)
			}
		}
	}
}

// TestBesideOthersAsBesideAll: a verdict is the same as one beside all Ingresses.
func TestBesideOthersAsBesideAll(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for i := range 40 {
		all.WriteString(ingress(fmt.Sprintf("team-%d/i-%d", i%7, i), "", fmt.Sprintf("h%d.example/p%d web", i%11, i%3)))
	}
	b := stored(t, class+web+all.String())
	r := New()
	for i := range 40 {
		candidate := one(t, ingress("shop/new", "", fmt.Sprintf("h%d.example/p%d web", i%13, i%5)))
		near := r.Review(b, candidate, nil)
		found := r.judge(b, append(slices.Clone(b.Snapshot.Ingresses()), asYoungest(candidate)))
		found = slices.DeleteFunc(found, func(p model.Problem) bool { return p.Object != snapshot.RefOf(candidate) || !rejectable(p, candidate) })
		if len(found) != len(near.Rejections) || near.Beside > 12 {
			t.Errorf("%s: near %v, all %v, beside %d", candidate.Spec.Rules[0].Host, near.Rejections, found, near.Beside)
		}
	}
}
