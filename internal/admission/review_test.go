package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Review judges an Ingress without a limit of time.
func (r *Reviewer) Review(b Basis, object, former *networkingv1.Ingress) Verdict {
	return r.Open(b, object, former).Judge(context.Background())
}

// many is an Ingress of one host with n paths.
func many(t testing.TB, name, annotations, host string, n int) *networkingv1.Ingress {
	t.Helper()
	object := one(t, ingress(name, annotations, host+"/ web"))
	path := object.Spec.Rules[0].HTTP.Paths[0]
	paths := []networkingv1.HTTPIngressPath{}
	for i := range n {
		path.Path = fmt.Sprintf("/p%d", i)
		paths = append(paths, path)
	}
	object.Spec.Rules[0].HTTP.Paths = paths
	return object
}

// with is a basis with some Ingresses, the first the oldest.
func with(t testing.TB, some ...*networkingv1.Ingress) Basis {
	t.Helper()
	all := objects(t, class+web)
	for i, object := range some {
		object.CreationTimestamp.Time = time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
	}
	all.Ingresses = some
	snap, problems := snapshot.New(all)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return Basis{Snapshot: snap, Options: optionsFor(t)}
}

// TestConflictsCostTheSameEach: whether the paths of many conflicts are handed over takes one
// look-up for each, not one for each pair of them.
func TestConflictsCostTheSameEach(t *testing.T) {
	t.Parallel()
	const n = 100_000
	old, fresh := many(t, "shop/old", "", "a.example", n), many(t, "team/new", "", "a.example", n)
	holders, problems := holdersOf(fresh, []*networkingv1.Ingress{old}), make([]model.Problem, n)
	for i := range problems {
		problems[i] = model.Problem{Object: snapshot.RefOf(fresh), Reason: model.Conflict, Field: fmt.Sprintf("spec.rules[0].http.paths[%d].path", i)}
	}
	c := Case{object: fresh, beside: []*networkingv1.Ingress{old}}
	done := make(chan Verdict, 1)
	go func() { done <- c.verdict(problems, problems) }()
	select {
	case v := <-done:
		if len(v.Rejections) != n || len(v.Warnings) != 0 || holders.handedOver(problems[0], fresh) {
			t.Errorf("%d of %d conflicts are rejected, %d warnings", len(v.Rejections), n, len(v.Warnings))
		}
	case <-time.After(time.Minute): // 10 billion comparisons take longer
		t.Fatal("the conflicts are compared with each other")
	}
}

// TestTooLarge: what could not be judged in time is rejected with the limit, unless nothing of it
// changes.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	want := fmt.Sprintf("want at most %d rules, paths and hosts of TLS", MostParts)
	fresh := many(t, "team/new", "", "a.example", MostParts/2)
	tls := one(t, ingress("team/new", "", "a.example/ web"))
	tls.Spec.TLS = []networkingv1.IngressTLS{{Hosts: slices.Repeat([]string{"a.example"}, MostParts)}}
	for name, c := range map[string]struct {
		basis  Basis
		object *networkingv1.Ingress
	}{
		"alone":                          {with(t), many(t, "team/new", "", "a.example", MostParts)},
		"its TLS":                        {with(t), tls},
		"beside others of its host":      {with(t, many(t, "shop/old", "", "a.example", MostParts/2)), fresh},
		"beside others, the small one":   {with(t, many(t, "shop/old", "", "a.example", MostParts)), one(t, ingress("team/new", "", "a.example/ web"))},
		"with a bad value of annotation": {with(t), many(t, "team/new", "nginx.ingress.kubernetes.io/limit-rps: many", "a.example", MostParts)},
	} {
		sayOnly(t, name, New().Review(c.basis, c.object, nil).Rejections, want)
	}
	former := many(t, "team/new", "", "a.example", MostParts)
	b := with(t, former)
	labelled := former.DeepCopy()
	labelled.Labels = map[string]string{"team": "web"}
	if v := New().Review(b, labelled, former); !v.Ours || len(v.Rejections) > 0 {
		t.Errorf("a label: %+v", v)
	}
	labelled.Annotations = map[string]string{"nginx.ingress.kubernetes.io/limit-rps": "many"}
	sayOnly(t, "an annotation", New().Review(b, labelled, former).Rejections, want)
}

// TestEndOfTime: an Ingress with faults that cannot be judged in time is rejected.
func TestEndOfTime(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	sayOnly(t, "rejected", New().Open(with(t), one(t, ingress("shop/new", "", "a.example/ web")), nil).Judge(ended).Rejections, "could not be judged in time")
}

// TestOthersCostOnlyWhatIsShared: what others have on other hosts is not judged.
func TestOthersCostOnlyWhatIsShared(t *testing.T) {
	t.Parallel()
	pattern := "nginx.ingress.kubernetes.io/server-alias: '~^never[.]example$'"
	var patterned, wild, elsewhere []*networkingv1.Ingress
	for i := range 10 {
		patterned = append(patterned, many(t, fmt.Sprintf("evil/p%d", i), pattern, fmt.Sprintf("big%d.example", i), 1000))
		wild = append(wild, many(t, fmt.Sprintf("evil/w%d", i), "", "*.example", 1000))
		other := many(t, fmt.Sprintf("evil/e%d", i), "", "evil.example", 1000)
		other.Spec.Rules = append(other.Spec.Rules, one(t, ingress("a/b", "", fmt.Sprintf("a.example/e%d web", i))).Spec.Rules...)
		elsewhere = append(elsewhere, other)
	}
	for name, c := range map[string]struct {
		others []*networkingv1.Ingress
		object string
		most   int
	}{
		"patterns beside a host":      {patterned, ingress("shop/new", "", "a.example/ web"), 2},
		"patterns beside a pattern":   {patterned, ingress("shop/new", pattern, "a.example/ web"), 2 + 10*2},
		"patterns beside a catch-all": {patterned, ingress("shop/new", "", "/ web"), 2 + 10*2},
		"wildcards":                   {wild, ingress("shop/new", "", "a.example/ web"), 2 + 10*2},
		"paths of other hosts":        {elsewhere, ingress("shop/new", "", "a.example/ web"), 2 + 10*4},
	} {
		if got := New().Open(with(t, c.others...), one(t, c.object), nil); got.Parts > c.most {
			t.Errorf("%s: %d parts, want at most %d", name, got.Parts, c.most)
		}
	}
}

// TestTrimmedAsWhole: beside Ingresses without what they have on other hosts, a verdict is the same
// as beside all.
func TestTrimmedAsWhole(t *testing.T) {
	t.Parallel()
	alias, www := "nginx.ingress.kubernetes.io/server-alias: ", "nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'"
	others := ingress("shop/mixed", alias+"'alias.example,~^shop[.]example$'", "x.example/a web", "x.example/b web", "a.example/cart web", "y.example/ web", "m.b.example/ web", "a.example/last web") +
		ingress("shop/wild", "", "*.b.example/ web", "*.b.example/q web") + ingress("shop/www", www, "z.example/ web", "w.example/ web") +
		ingress("shop/all", "", "/ web", "/q web", "o.example/ web") + ingress("shop/under", "", "o.example/x web", "deep.c.example/ web", "deep.c.example/y web")
	others = strings.ReplaceAll(others, "  rules:", "  tls: [{hosts: [x.example, a.example], secretName: one}, {hosts: [o.example], secretName: two}, {hosts: ['*.c.example'], secretName: three}]\n  rules:")
	b := stored(t, class+web+others)
	r, rejected := New(), 0
	for _, at := range []string{"a.example/cart", "a.example/last", "a.example/", "y.example/", "alias.example/", "shop.example/", "a.b.example/", "q.b.example/", "*.b.example/q", "www.w.example/", "w.example/", "/q", "o.example/x", "*.c.example/", "deep.c.example/y", "q.example/"} {
		for _, annotations := range []string{"", alias + "alias.example", alias + "'~^shop[.]example$'", alias + "'~^.*$'", alias + "a.example", www, "nginx.ingress.kubernetes.io/ssl-ciphers: AES256-SHA"} {
			candidate := one(t, strings.Replace(ingress("team/new", annotations, "fresh.example/ web", at+" web"), "  rules:", "  tls: [{hosts: [a.example, w.example, o.example, deep.c.example], secretName: other}]\n  rules:", 1))
			near := r.Review(b, candidate, nil)
			c := r.Open(b, candidate, nil)
			c.beside = b.Snapshot.Ingresses()
			all := c.Judge(t.Context())
			rejected += len(all.Rejections)
			if !slices.Equal(near.Rejections, all.Rejections) || !slices.Equal(near.Warnings, all.Warnings) {
				t.Errorf("%s with %q, beside %d:\nnear %v; %v\nall  %v; %v", at, annotations, near.Beside, near.Rejections, near.Warnings, all.Rejections, all.Warnings)
			}
		}
	}
	if rejected < 20 {
		t.Errorf("only %d reasons to reject: this compares nothing", rejected)
	}
}
