package controller

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

func always(_, _ *networkingv1.Ingress) bool { return true }

// TestRefusalDoesNotOutliveItsCause: other templates, settings or Secrets than
// those with which nginx refused an Ingress have it tested again.
func TestRefusalDoesNotOutliveItsCause(t *testing.T) {
	t.Parallel()
	bad := form("web", "bad")
	before := basis{
		templates: &render.Templates{}, configs: []*corev1.ConfigMap{settingsOf("x")},
		secrets: []*corev1.Secret{{Data: map[string][]byte{"ca.crt": []byte("x")}}},
	}
	for name, change := range map[string]func(*basis){
		"templates":   func(b *basis) { b.templates = &render.Templates{} },
		"settings":    func(b *basis) { b.configs = []*corev1.ConfigMap{settingsOf("y")} },
		"no settings": func(b *basis) { b.configs = []*corev1.ConfigMap{nil} },
		"Secret":      func(b *basis) { b.secrets = []*corev1.Secret{{Data: map[string][]byte{"ca.crt": []byte("y")}}} },
		"":            func(b *basis) { b.configs = []*corev1.ConfigMap{settingsOf("x")} }, // decoded anew
	} {
		q := newQuarantine(never)
		q.entries[web] = &refusal{refused: bad, stand: asNone, basis: before}
		now := before
		change(&now)
		q.release(snap(t, bad), func(*networkingv1.Ingress) basis { return now })
		if waits := q.entries[web].waits; waits != (name != "") {
			t.Errorf("changed %q: is it tested again? %v", name, waits)
		}
	}
}

// TestSettingsRefusalEndsWithItsCause: settings are tried again when the
// templates change, or the Ingress that made them look wrong.
func TestSettingsRefusalEndsWithItsCause(t *testing.T) {
	t.Parallel()
	first, second := &render.Templates{}, &render.Templates{}
	innocent, broken := settingsOf("innocent"), form("web", "broken")
	for name, end := range map[string]struct {
		templates *render.Templates
		ingress   *networkingv1.Ingress
		want      string
	}{
		"nothing":   {first, broken, "good"},
		"templates": {second, broken, "innocent"},
		"Ingress":   {first, form("web", "mended"), "innocent"},
	} {
		var g settingsGuard
		if !g.refuse(&plan{configMap: innocent, templates: first}, settingsOf("good"), []refusedGroup{{text: "x"}}) {
			t.Fatal("nothing fell back")
		}
		g.because = []*networkingv1.Ingress{broken}
		s, _ := snapshot.New(snapshot.Objects{ConfigMaps: []*corev1.ConfigMap{innocent}, Ingresses: []*networkingv1.Ingress{end.ingress}})
		if got := g.substitute(s, config, end.templates).ConfigMap(config).Data["ssl-ciphers"]; got != end.want {
			t.Errorf("after a change of %s: %q is in force, want %q", name, got, end.want)
		}
	}
}

// TestKeysThatProtectNeverFallBack, whichever group is refused.
func TestKeysThatProtectNeverFallBack(t *testing.T) {
	t.Parallel()
	cm := settingsOf("bad")
	cm.Data["Whitelist-Source-Range"], cm.Data["denylist-source-range"], cm.Data["enable-modsecurity"] = "10.0.0.0/8", "10.1.0.0/16", "true"
	cm.Data["host-ownership"], cm.Data["whitelist_source_range"] = "namespace", "10.2.0.0/16"
	// Whose address an allow list sees, and which annotations are followed.
	cm.Data["use-forwarded-headers"], cm.Data["proxy-real-ip-cidr"], cm.Data["use-proxy-protocol"] = "true", "10.3.0.0/16", "true"
	cm.Data["annotations-risk-level"] = "Low"
	good := &corev1.ConfigMap{ObjectMeta: cm.ObjectMeta, Data: map[string]string{"proxy-real-ip-cidr": "0.0.0.0/0", "enable-real-ip": "true"}}
	var g settingsGuard
	if !g.refuse(&plan{configMap: cm}, good, []refusedGroup{{text: "x"}}) {
		t.Fatal("nothing fell back")
	}
	for key, want := range map[string]string{"Whitelist-Source-Range": "10.0.0.0/8", "denylist-source-range": "10.1.0.0/16", "enable-modsecurity": "true", "host-ownership": "namespace", "whitelist_source_range": "10.2.0.0/16", "ssl-ciphers": "",
		"use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.3.0.0/16", "use-proxy-protocol": "true", "enable-real-ip": "", "annotations-risk-level": "Low"} {
		if got := g.inForce.Data[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// TestClosedFormsStayClosed: of an Ingress that protects the form that nginx refuses
// gives way to the next one. The last one stays, as its paths would be open without.
func TestClosedFormsStayClosed(t *testing.T) {
	t.Parallel()
	q := newQuarantine(always)
	now := snap(t, form("web", "bad"))
	p := &plan{snap: now, served: now}
	refuse := func(undecided bool) bool {
		changed := q.add(p, culprit{object: refOf(web), text: "refused", undecided: undecided}, nil)
		served, denied := q.substitute(now)
		p = &plan{snap: now, served: served}
		p.options.Denied = denied
		if served.Ingress(web) == nil {
			t.Fatal("it is left out")
		}
		return changed
	}
	if !refuse(true) || p.options.Denied[web] != translate.DenyPaths {
		t.Errorf("undecided: denied %v", p.options.Denied)
	}
	if refuse(true) || p.options.Denied[web] != translate.DenyPaths {
		t.Errorf("undecided again: denied %v", p.options.Denied)
	}
	if !refuse(false) || p.options.Denied[web] != translate.DenyBeginnings {
		t.Errorf("refused: denied %v", p.options.Denied)
	}
	if refuse(false) || p.options.Denied[web] != translate.DenyBeginnings {
		t.Errorf("refused again: denied %v", p.options.Denied)
	}
}

// TestUndecidedWithAnIdenticalGoodFormIsServed: a search did not get to an Ingress
// that is as nginx took it last. It goes on being served.
func TestUndecidedWithAnIdenticalGoodFormIsServed(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	now := snap(t, form("web", "same"))
	q.add(&plan{snap: now, served: now}, culprit{object: refOf(web), undecided: true, text: "not tested"}, form("web", "same"))
	served, _ := q.substitute(now)
	if got := hosts(served); got["web"] != "same" {
		t.Errorf("served %v, want the form that is good", got)
	}
}

// BenchmarkQuarantine is the work of one sync with 1,000 of 10,000 Ingresses in
// quarantine.
func BenchmarkQuarantine(b *testing.B) {
	var all []*networkingv1.Ingress
	q := newQuarantine(never)
	for i := range 10_000 {
		ing := form(fmt.Sprintf("web-%d", i), "a.example")
		ing.Namespace, ing.CreationTimestamp = fmt.Sprintf("n%d", i%100), metav1.NewTime(time.Unix(int64(i), 0))
		all = append(all, ing)
		if i%10 == 0 {
			q.entries[snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}] = &refusal{refused: ing, stand: asNone}
		}
	}
	s, _ := snapshot.New(snapshot.Objects{Ingresses: all})
	for b.Loop() {
		q.release(s, anyBasis)
		q.substitute(s)
		q.problems()
	}
}
