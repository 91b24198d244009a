package controller

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

var web = snapshot.Name{Namespace: "shop", Name: "web"}

func TestQuarantineServesTheLastGoodForm(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	bad, neighbour := form("web", "bad"), form("other", "other")
	now := snap(t, bad, neighbour)
	if !q.add(now, web, form("web", "good"), "refused") {
		t.Fatal("nothing changed")
	}
	served, denied := q.substitute(now)
	if got := hosts(served); got["web"] != "good" || got["other"] != "other" || len(denied) != 0 {
		t.Errorf("served %v, denied %v", got, denied)
	}
	if !q.add(now, web, nil, "the last good form is refused too") {
		t.Fatal("nothing changed")
	}
	served, _ = q.substitute(now)
	if got := hosts(served); len(got) != 1 || got["other"] != "other" {
		t.Errorf("served %v, want only the neighbour", got)
	}
	if q.add(now, web, nil, "again") {
		t.Error("an Ingress that is left out already changed something")
	}
}

func TestQuarantineEndsWithAnEdit(t *testing.T) {
	t.Parallel()
	q := newQuarantine(never)
	q.add(snap(t, form("web", "bad")), web, nil, "refused")
	q.release(snap(t, form("web", "bad")))
	if len(q.problems()) != 1 {
		t.Error("the same content, decoded anew, ended the quarantine")
	}
	q.release(snap(t, form("web", "mended")))
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
	q.add(now, web, form("web", "good"), "refused")
	if _, denied := q.substitute(now); !denied[web] {
		t.Error("the open form would be served")
	}
	if problems := q.problems(); len(problems) != 1 || !problems[0].Denies {
		t.Errorf("problems: %v", problems)
	}
}

func TestLastGoodOutlivesARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	settings := &corev1.ConfigMap{Data: map[string]string{"hsts": "false"}}
	record(t, l, snap(t, form("web", "one"), form("gone", "gone")), settings)
	record(t, l, snap(t, form("web", "two")), settings)
	appendTo(t, path, `{"ingress":{"metadata":{"name":"cut sh`)
	for range 2 {
		l = reopen(t, path)
		if len(l.ingresses) != 1 || l.ingresses[web].Spec.Rules[0].Host != "two" || l.settings.Data["hsts"] != "false" {
			t.Errorf("kept %v and settings %v", l.ingresses, l.settings)
		}
	}
}

func TestLastGoodWritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	record(t, l, snap(t, form("web", "one")), nil)
	before := size(t, path)
	record(t, l, snap(t, form("web", "one")), nil)
	if after := size(t, path); after != before {
		t.Errorf("%d bytes written for nothing new", after-before)
	}
}

func reopen(t *testing.T, path string) *lastGood {
	t.Helper()
	l, err := openLastGood(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func record(t *testing.T, l *lastGood, s *snapshot.Snapshot, settings *corev1.ConfigMap) {
	t.Helper()
	if err := l.record(s, settings); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
