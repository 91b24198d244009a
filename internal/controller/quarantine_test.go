package controller

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// form gives an Ingress whose content differs by the host.
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

func hosts(s *snapshot.Snapshot) map[string]string {
	found := map[string]string{}
	for _, ing := range s.Ingresses() {
		found[ing.Name] = ing.Spec.Rules[0].Host
	}
	return found
}

func never(_, _ *networkingv1.Ingress) bool { return false }

func anyBasis(*networkingv1.Ingress) basis { return basis{} }

var web = snapshot.Name{Namespace: "shop", Name: "web"}

func refOf(name snapshot.Name) model.ObjectRef {
	return model.ObjectRef{Kind: "Ingress", Namespace: name.Namespace, Name: name.Name}
}

func TestQuarantineServesTheLastGoodForm(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	bad, neighbour := form("web", "bad"), form("other", "other")
	now := snap(t, bad, neighbour)
	if !q.add(&plan{snap: now, served: now}, culprit{object: refOf(web), text: "refused"}, form("web", "good")) {
		t.Fatal("nothing changed")
	}
	served, denied := q.substitute(now)
	if got := hosts(served); got["web"] != "good" || got["other"] != "other" || len(denied) != 0 {
		t.Errorf("served %v, denied %v", got, denied)
	}
	if !q.add(&plan{snap: now, served: served}, culprit{object: refOf(web), text: "the last good form is refused too"}, nil) {
		t.Fatal("nothing changed")
	}
	served, _ = q.substitute(now)
	if got := hosts(served); len(got) != 1 || got["other"] != "other" {
		t.Errorf("served %v, want only the neighbour", got)
	}
	if q.add(&plan{snap: now, served: served}, culprit{object: refOf(web), text: "again"}, nil) {
		t.Error("an Ingress that is left out already changed something")
	}
}

func TestQuarantineEndsWithAnEdit(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	now := snap(t, form("web", "bad"))
	q.add(&plan{snap: now, served: now}, culprit{object: refOf(web), text: "refused"}, nil)
	q.release(snap(t, form("web", "bad")), anyBasis)
	if len(q.problems()) != 1 {
		t.Error("the same content, decoded anew, ended the quarantine")
	}
	q.release(snap(t, form("web", "mended")), anyBasis)
	if len(q.problems()) != 0 {
		t.Error("an edit did not end the quarantine")
	}
}

func TestQuarantineDeniesWhereAProtectionWouldBeLost(t *testing.T) {
	t.Parallel()
	q := newQuarantine(func(refused, good *networkingv1.Ingress) bool {
		return refused.Spec.Rules[0].Host == "bad" && good.Spec.Rules[0].Host == "good"
	})
	now := snap(t, form("web", "bad"))
	q.add(&plan{snap: now, served: now}, culprit{object: refOf(web), text: "refused"}, form("web", "good"))
	if _, denied := q.substitute(now); denied[web] == 0 {
		t.Error("the open form would be served")
	}
	if problems := q.problems(); len(problems) != 1 || !problems[0].Denies {
		t.Errorf("problems: %v", problems)
	}
}
