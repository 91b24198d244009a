package controller

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/templatedir"
)

// TestRefusalDoesNotOutliveItsCause: a refused Ingress is tested again when templates,
// settings, its Secrets or nginx differ.
func TestRefusalDoesNotOutliveItsCause(t *testing.T) {
	t.Parallel()
	secretOf := func(value string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "ca"}, Data: map[string][]byte{"ca.crt": []byte(value)}}
	}
	for name, change := range map[string]func(*Controller, *objects){
		"templates":   func(c *Controller, _ *objects) { c.Templates = another(t) },
		"settings":    func(_ *Controller, o *objects) { o.say(settingsOf("y")) },
		"Secret":      func(_ *Controller, o *objects) { o.Secrets = []*corev1.Secret{secretOf("y")} },
		"no Secret":   func(_ *Controller, o *objects) { o.Secrets = nil },
		"nginx":       func(c *Controller, _ *objects) { c.nginx.can.Stream = true },
		"":            func(_ *Controller, o *objects) { o.say(settingsOf("x")); o.Secrets = []*corev1.Secret{secretOf("x")} }, // decoded anew
		"another one": func(_ *Controller, o *objects) { o.Ingresses = append(o.Ingresses, form("other", "other.example")) },
	} {
		c, source := guarded(t, settingsOf("x"), nil)
		bad := form("web", "bad")
		bad.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "ca"}}
		source.Ingresses, source.Secrets = []*networkingv1.Ingress{bad}, []*corev1.Secret{secretOf("x")}
		c.trials.free = 0 // nobody tests
		c.sync(t.Context())
		r := c.quarantined(t, web, "refused")
		change(c, source)
		c.sync(t.Context())
		if want := name != "" && name != "another one"; r.Waits != want {
			t.Errorf("changed %q: is it tested again? %v", name, r.Waits)
		}
	}
}

// another returns templates that differ from all others.
func another(t *testing.T) Templates {
	t.Helper()
	templates, err := templatedir.Open("", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return templates
}

// TestRefusedTemplatesAreTriedAgain when they change, or an object of the refused plan
// does. Until then, the templates that nginx accepted last are in force.
func TestRefusedTemplatesAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Controller, *objects){
		"nothing":   func(*Controller, *objects) {},
		"templates": func(c *Controller, _ *objects) { c.Templates = another(t) },
		"settings":  func(_ *Controller, o *objects) { o.say(settingsOf("y")) },
		"culprit":   func(_ *Controller, o *objects) { o.put(0, form("web", "mended")) },
		"service": func(_ *Controller, o *objects) {
			o.ConfigMaps = append(o.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "tcp"}})
		},
		"neighbour": func(_ *Controller, o *objects) { o.put(1, form("other", "edited")) },
	} {
		c, source := guarded(t, settingsOf("x"), nil)
		source.Ingresses = []*networkingv1.Ingress{form("web", "web"), form("other", "other")}
		c.sync(t.Context())
		c.applied(t.Context(), outcome{plan: c.submitted()})
		taken := c.latest.templates
		c.Templates = another(t)
		c.sync(t.Context())
		o := outcome{plan: c.latest, culprits: []culprit{{object: refOf(web), text: "refused"}, {object: streamsOf(1)[0].Source, stream: "tcp-1"}}}
		if c.applied(t.Context(), o); c.latest.templates != taken || len(c.refusals()) > 0 {
			t.Fatalf("the templates before are not in force, or somebody is blamed: %v", c.refusals())
		}
		change(c, source)
		c.sync(t.Context())
		if again := c.latest.templates != taken; again != (name != "nothing" && name != "neighbour") {
			t.Errorf("changed %s: are the templates tried again? %v", name, again)
		}
	}
}

// TestRefusedStreamsAreTriedAgain when the templates or the settings change.
func TestRefusedStreamsAreTriedAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan){
		"nothing":   func(*plan) {},
		"templates": func(p *plan) { p.templates = &render.Templates{} },
		"settings":  func(p *plan) { p.configs = []*corev1.ConfigMap{settingsOf("y")} },
	} {
		g := streamsIn(t)
		plan := func() *plan {
			p := planOf(streamsOf(1)...)
			p.configs = []*corev1.ConfigMap{settingsOf("x")}
			return p
		}
		p := plan()
		p.templates = &render.Templates{}
		p.basis = quarantine.Look(p.look).Basis(templatesSubject, settingsSubject)
		g.refuse(p, "tcp-1", "bad")
		now := plan()
		now.templates = p.templates
		change(now)
		if g.screen(now); (len(now.config.Static.Streams) > 0) != (name != "nothing") {
			t.Errorf("changed %s: served are %v", name, now.config.Static.Streams)
		}
	}
}

// TestSettingsRefusalEndsWithItsCause: settings are tried again when the templates
// change, or the Ingress that nginx rejected with them.
func TestSettingsRefusalEndsWithItsCause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Controller, *objects)
		want   string
	}{
		"nothing":   {func(*Controller, *objects) {}, "good"},
		"templates": {func(c *Controller, _ *objects) { c.Templates = another(t) }, "innocent"},
		"Ingress":   {func(_ *Controller, o *objects) { o.put(0, form("web", "mended")) }, "innocent"},
		"another":   {func(_ *Controller, o *objects) { o.put(1, form("other", "mended")) }, "good"},
	} {
		c, source := guarded(t, settingsOf("good"), nil)
		source.Ingresses = []*networkingv1.Ingress{form("web", "broken"), form("other", "other")}
		c.sync(t.Context())
		c.applied(t.Context(), outcome{plan: c.submitted()})
		source.say(settingsOf("innocent"))
		c.sync(t.Context())
		if !c.refuse(outcome{plan: c.latest, culprits: []culprit{{object: refOf(web), text: "x"}}}) {
			t.Fatal("nothing fell back")
		}
		if c.sync(t.Context()); c.ciphers() != "good" || c.latest.served.Ingress(web) == nil {
			t.Fatalf("in force is %q, or the Ingress is blamed", c.ciphers())
		}
		test.change(c, source)
		if c.sync(t.Context()); c.ciphers() != test.want {
			t.Errorf("after a change of %s: %q is in force, want %q", name, c.ciphers(), test.want)
		}
	}
}

// TestKeysThatProtectNeverFallBack, whichever group is refused.
func TestKeysThatProtectNeverFallBack(t *testing.T) {
	t.Parallel()
	cm := settingsOf("bad")
	cm.Data["Whitelist-Source-Range"], cm.Data["denylist-source-range"], cm.Data["enable-modsecurity"] = "10.0.0.0/8", "10.1.0.0/16", "true"
	cm.Data["host-ownership"], cm.Data["whitelist_source_range"] = "namespace", "10.2.0.0/16"
	// They decide which address an allow list sees, and which annotations are read.
	cm.Data["use-forwarded-headers"], cm.Data["proxy-real-ip-cidr"], cm.Data["use-proxy-protocol"] = "true", "10.3.0.0/16", "true"
	cm.Data["annotations-risk-level"] = "Low"
	good := &corev1.ConfigMap{ObjectMeta: cm.ObjectMeta, Data: map[string]string{"proxy-real-ip-cidr": "0.0.0.0/0", "enable-real-ip": "true"}}
	c, _ := guarded(t, cm, good)
	if !c.refused(t, refusedGroup{text: "x"}) {
		t.Fatal("nothing fell back")
	}
	for key, want := range map[string]string{"Whitelist-Source-Range": "10.0.0.0/8", "denylist-source-range": "10.1.0.0/16", "enable-modsecurity": "true", "host-ownership": "namespace", "whitelist_source_range": "10.2.0.0/16", "ssl-ciphers": "",
		"use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.3.0.0/16", "use-proxy-protocol": "true", "enable-real-ip": "", "annotations-risk-level": "Low"} {
		if got := c.latest.configMap.Data[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// BenchmarkQuarantine is the work of one sync with 1,000 of 10,000 Ingresses in
// quarantine.
func BenchmarkQuarantine(b *testing.B) {
	var all []*networkingv1.Ingress
	for i := range 10_000 {
		ing := form(fmt.Sprintf("web-%d", i), "a.example")
		ing.Namespace, ing.CreationTimestamp = fmt.Sprintf("n%d", i%100), metav1.NewTime(time.Unix(int64(i), 0))
		all = append(all, ing)
	}
	s, _ := snapshot.New(snapshot.Objects{Ingresses: all})
	p := &plan{snap: s, served: s, templates: &render.Templates{}}
	p.basis = quarantine.Look(p.look).Basis(templatesSubject, settingsSubject, nginxSubject)
	c := &Controller{quarantine: quarantine.New(harmless, time.Now)}
	for i := 0; i < len(all); i += 10 {
		c.quarantine.Refuse(0, quarantine.Finding{Subject: quarantine.Of(snapshot.RefOf(all[i])), Refused: all[i], Basis: p.basis, Apart: true})
	}
	for b.Loop() {
		c.quarantine.Release(is[*networkingv1.Ingress], p.look)
		c.substituteIngresses(p)
		c.refusals()
		p.served = s
	}
}

// snippetsOf returns the ConfigMap with the named snippets: one snippet of this text.
func snippetsOf(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "snippets"}, Data: map[string]string{"cache": "text: " + text + "\n"}}
}

// using returns an Ingress that uses the named snippet.
func using(name, host string) *networkingv1.Ingress {
	ing := form(name, host)
	ing.Annotations = map[string]string{"sluice.io/snippets": "cache"}
	return ing
}

// TestNamedSnippetIsToBlameBeforeTheSettings: settings and the text of a named snippet
// change at once, and nginx rejects the Ingresses that use the snippet. Settings are
// blamed only for an Ingress that does not use it.
func TestNamedSnippetIsToBlameBeforeTheSettings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		snippets *corev1.ConfigMap
		culprits []snapshot.Name
		want     string
	}{
		"the user of the changed snippet": {snippetsOf("bad on;"), []snapshot.Name{web}, "innocent"},
		"also another Ingress":            {snippetsOf("bad on;"), []snapshot.Name{web, {Namespace: "shop", Name: "other"}}, "good"},
		"the same text, decoded anew":     {snippetsOf("expires 1h;"), []snapshot.Name{web}, "good"},
	} {
		c, source := guarded(t, settingsOf("good"), nil)
		c.Translate.NamedSnippets = snapshot.Name{Namespace: "sluice", Name: "snippets"}
		source.Ingresses = []*networkingv1.Ingress{using("web", "a.example"), form("other", "b.example")}
		source.ConfigMaps = append(source.ConfigMaps, snippetsOf("expires 1h;"))
		c.sync(t.Context())
		c.applied(t.Context(), outcome{plan: c.submitted()})
		source.say(settingsOf("innocent"))
		source.ConfigMaps = append(source.ConfigMaps, test.snippets)
		c.sync(t.Context())
		o := outcome{plan: c.latest}
		for _, name := range test.culprits {
			o.culprits = append(o.culprits, culprit{object: refOf(name), text: "x"})
		}
		if !c.refuse(o) {
			t.Fatalf("%s: nothing was refused", name)
		}
		if c.sync(t.Context()); c.ciphers() != test.want || (c.quarantine.Of(quarantine.Of(refOf(web))) != nil) != (test.want == "innocent") {
			t.Errorf("%s: in force is %q with problems %v, want %q", name, c.ciphers(), c.refusals(), test.want)
		}
	}
}

// TestMendedSnippetTriesTheSettingsAgain: after a restart it is unknown whether the
// snippet changed with the settings, so that they are blamed. They are tried again with
// the mended snippet.
func TestMendedSnippetTriesTheSettingsAgain(t *testing.T) {
	t.Parallel()
	for _, mended := range []bool{false, true} {
		c, source := guarded(t, settingsOf("innocent"), settingsOf("good"))
		c.Translate.NamedSnippets = snapshot.Name{Namespace: "sluice", Name: "snippets"}
		source.Ingresses = []*networkingv1.Ingress{using("web", "a.example")}
		c.good.keep(source.Ingresses[0])
		source.ConfigMaps = append(source.ConfigMaps, snippetsOf("bad on;"))
		c.sync(t.Context())
		if !c.refuse(outcome{plan: c.latest, culprits: []culprit{{object: refOf(web), text: "x"}}}) {
			t.Fatal("nothing was refused")
		}
		if c.sync(t.Context()); c.ciphers() != "good" {
			t.Fatalf("in force is %q", c.ciphers())
		}
		want := "good"
		if mended {
			source.ConfigMaps, want = []*corev1.ConfigMap{settingsOf("innocent"), snippetsOf("expires 1h;")}, "innocent"
		}
		if c.sync(t.Context()); c.ciphers() != want {
			t.Errorf("mended: %v; in force is %q, want %q", mended, c.ciphers(), want)
		}
	}
}
