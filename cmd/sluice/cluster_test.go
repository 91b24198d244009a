package main

import (
	"maps"
	"testing"

	"sluice/internal/model"
	"sluice/internal/report/status"
)

// What nginx refuses comes before what is denied, in whatever order they are told.
func TestUnserved(t *testing.T) {
	t.Parallel()
	web, shop := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}, model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "shop"}
	refused, denied := model.Problem{Object: web, Reason: model.Refused}, model.Problem{Object: web, Reason: model.InvalidValue, Denies: true}
	for _, problems := range [][]model.Problem{{refused, denied}, {denied, refused}} {
		problems = append(problems, model.Problem{Object: shop, Reason: model.InvalidValue})
		if got := unserved(problems); !maps.Equal(got, map[model.ObjectRef]string{web: status.Refused}) {
			t.Errorf("%v: got %v", problems, got)
		}
	}
	if got := unserved([]model.Problem{denied}); got[web] != status.Denied {
		t.Errorf("got %v, want it denied", got)
	}
}
