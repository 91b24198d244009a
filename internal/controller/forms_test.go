package controller

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/quarantine"
	"sluice/internal/snapshot"
)

// form returns an Ingress whose content is the host.
func form(name, host string) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: host}}},
	}
}

func snap(t *testing.T, ingresses ...*networkingv1.Ingress) *snapshot.Snapshot {
	t.Helper()
	s, problems := snapshot.New(snapshot.Objects{Ingresses: ingresses})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// harmless is a judge for which nothing protects.
var harmless = quarantine.Judge{Same: sameForm, Protects: func(_, _ quarantine.Form) bool { return false }}

var web = snapshot.Name{Namespace: "shop", Name: "web"}

func refOf(name snapshot.Name) model.ObjectRef {
	return model.ObjectRef{Kind: "Ingress", Namespace: name.Namespace, Name: name.Name}
}

// quarantined makes nginx reject an Ingress of the latest plan, and returns the
// refusal.
func (c *Controller) quarantined(t *testing.T, name snapshot.Name, text string) *quarantine.Refusal {
	t.Helper()
	f, ok := c.latest.finding(culprit{object: refOf(name), text: text}, c.good)
	if !ok || !c.quarantine.Refuse(c.latest.turn, f) {
		t.Fatalf("%v is not put in quarantine", name)
	}
	return c.quarantine.Of(quarantine.Of(refOf(name)))
}
