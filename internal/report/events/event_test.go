package events

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

func e2name(e corev1.Event) snapshot.Name {
	return snapshot.Name{Namespace: e.Namespace, Name: e.Name}
}

// Whatever an Ingress says, its event is one that Kubernetes takes.
func TestTextsFit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 5000)
	for _, p := range []model.Problem{
		{Text: "short"},
		{Text: long},
		{Text: long, Denies: true},
		{Text: long, Denies: true, Object: model.ObjectRef{Kind: "ConfigMap"}},
		{Text: "a\n\x00\xff" + long, Field: strings.Repeat("f", 400), Denies: true},
	} {
		p = model.SortProblems([]model.Problem{p})[0]
		m := message(p)
		if len(m) > mostMessage || !utf8.ValidString(m) || strings.ContainsFunc(m, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%d bytes: %.100q", len(m), m)
		}
		if p.Denies && !strings.HasSuffix(m, " 503 until this is mended") {
			t.Errorf("what it costs is cut off: %q", m[len(m)-60:])
		}
		if len(p.Text) > 1000 && len(m) < mostMessage-5 {
			t.Errorf("only %d bytes are used", len(m))
		}
	}
}

func TestNamesAreValidAndTellProblemsApart(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 62)
	for _, name := range []string{"web", "a.b", strings.Join([]string{label, label, label, label}, "."), strings.Repeat(label+".", 3) + "a." + strings.Repeat("b", 45) + "-c", strings.Repeat("a.", 126) + "a"} {
		p := mistake
		p.Object.Name = name
		if got := nameOf(p, "uid").Name; len(validation.IsDNS1123Subdomain(got)) > 0 || len(got) > mostName {
			t.Errorf("%q is named %q", name, got)
		}
	}
	changed := []func(*model.Problem){
		func(p *model.Problem) { p.Field += "x" }, func(p *model.Problem) { p.Text += "x" },
		func(p *model.Problem) { p.Reason = model.Conflict }, func(p *model.Problem) { p.Denies = false },
		func(p *model.Problem) { p.Field, p.Text = p.Field+p.Text[:1], p.Text[1:] },
	}
	names := []snapshot.Name{nameOf(mistake, "uid"), nameOf(mistake, "other")}
	for _, change := range changed {
		p := mistake
		change(&p)
		names = append(names, nameOf(p, "uid"))
	}
	slices.SortFunc(names, func(a, b snapshot.Name) int { return strings.Compare(a.Name, b.Name) })
	if len(slices.Compact(names)) != len(changed)+2 {
		t.Errorf("two Problems share a name: %v", names)
	}
	if first, second := nameOf(mistake, "uid"), nameOf(mistake, "uid"); first != second {
		t.Error("the name is another each time")
	}
}
