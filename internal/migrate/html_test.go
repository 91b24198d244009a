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
