package migrate

import (
	"bytes"
	"strings"
	"testing"

	"sluice/internal/lint"
	"sluice/internal/model"
)

// TestHostileTextsStayTexts: whatever users write is no markup, no formula and no line of
// its own.
func TestHostileTextsStayTexts(t *testing.T) {
	t.Parallel()
	const hostile = `</style><script>alert(1)</script>"'><img src=x onerror=alert(1)>{{ .Style }}`
	item := Item{Status: Different, Object: model.ObjectRef{Kind: hostile, Name: hostile}, Place: lint.Place{File: hostile, Line: 1}, Field: hostile, Reason: model.Reason(hostile), Text: hostile, Remedy: hostile,
		Instead: []string{hostile}, Difference: &Difference{ID: hostile, Page: hostile, What: hostile, IngressNginx: hostile, Sluice: hostile, Why: hostile}}
	argument := Argument{Name: hostile, Fate: Fate(hostile), Text: hostile}
	r := Report{
		Ingresses: []Ingress{{Namespace: hostile, Name: hostile, Place: lint.Place{File: hostile}, Status: Different, Hosts: []string{hostile}, Items: []Item{item}}},
		Others:    []Other{{hostile, hostile, hostile}}, Everywhere: []Item{item}, Objects: []Item{item}, Input: []Item{item},
		Settings: []Argument{argument}, Flags: []Argument{argument}, Values: []Argument{argument}, Sources: []string{hostile}, Untold: []Untold{{*item.Difference, hostile}},
	}
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "</style><"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	if n := strings.Count(page.String(), "&lt;script&gt;"); n < 20 {
		t.Errorf("%d texts are in the page", n)
	}
	for _, formula := range []string{"=1+1", "+1", "-1", "@x", "\tx"} {
		if got := inert(formula); got != "'"+formula {
			t.Errorf("%q is the cell %q", formula, got)
		}
	}
}

// TestReadValues: values get a fate each, and become settings and flags.
func TestReadValues(t *testing.T) {
	t.Parallel()
	v, err := ReadValues([]byte("controller: {config: {proxy-body-size: 8m, no-such: x, block-cidrs: 192.0.2.1}, ingressClass: outer, replicaCont: 2, scope: {enabled: true, namespace: team}}"),
		[]byte("controller: {ingressClass: inner, extraArgs: {v: 2}, admissionWebhooks: {enabled: true}, customTemplate: {configMapName: mine}}\nserviceAccount: {create: true}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(v.Arguments(), " "); got != "--ingress-class=inner --v=2 --watch-namespace=team" {
		t.Errorf("flags %s", got)
	}
	if v.Class == nil || v.Class.Name != "nginx" || v.Class.Spec.Controller != "k8s.io/ingress-nginx" {
		t.Errorf("the class is %v", v.Class)
	}
	own, err := ReadValues([]byte("controller: {config: {hsts-max-age: 31536000, proxy-body-size: 104857600}, ingressClassResource: {name: internal, default: true}, scope: {enabled: true}}"))
	if err != nil {
		t.Fatal(err)
	}
	if own.Settings["hsts-max-age"] != "31536000" || own.Settings["proxy-body-size"] != "104857600" || own.Flags["watch-namespace"] != "ingress-nginx" {
		t.Errorf("settings %v, flags %v", own.Settings, own.Flags)
	}
	if own.Class.Name != "internal" || len(own.Class.Annotations) != 1 {
		t.Errorf("the class is %v", own.Class)
	}
	if off, err := ReadValues([]byte("controller: {ingressClassResource: {enabled: false}}")); err != nil || off.Class != nil {
		t.Errorf("a class that is off: %v, %v", off.Class, err)
	}
	fates := map[string]Fate{}
	for _, a := range v.Given {
		fates[a.Name] = a.Fate
		if a.Fate != Kept && a.Text == "" {
			t.Errorf("%s: %s without a reason", a.Name, a.Fate)
		}
	}
	for name, want := range map[string]Fate{
		"controller.config.proxy-body-size": Kept, "controller.config.no-such": Unknown, "controller.replicaCont": Unknown,
		"controller.ingressClass": Kept, "controller.admissionWebhooks.enabled": WithoutEffect, "serviceAccount.create": Kept,
	} {
		if fates[name] != want {
			t.Errorf("%s is %q, want %q", name, fates[name], want)
		}
	}
	for _, bad := range []string{"kind: Service\napiVersion: v1", "- a", "a: b: c", "a: 1\na: 2"} {
		if _, err := ReadValues([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
