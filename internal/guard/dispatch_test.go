package guard

import (
	"strings"
	"testing"

	"sluice/internal/model"
)

// asking returns a claim for the requests with a header.
func asking(c Claim, name, value string) Claim {
	c.Match = model.Match{Headers: []model.ValueMatch{{Name: name, Value: value}}}
	return c
}

// handing returns a location that dispatches to those of the claims, in their order.
func handing(path string, claims []Claim, to ...*model.Location) (*model.Location, []*model.Internal) {
	l := &model.Location{Modifier: model.PrefixFirst, Path: path}
	var internal []*model.Internal
	for i, c := range claims {
		candidate := model.Candidate{Match: c.Match, To: to[i].Path}
		if !c.Match.Any() {
			candidate.Conditions = []model.Condition{{Of: model.OfHeader}}
		}
		l.Dispatch = append(l.Dispatch, candidate)
		internal = append(internal, &model.Internal{Location: to[i]})
	}
	return l, internal
}

// Dispatched requests are open if a candidate that may serve them does not protect them.
func TestCheckDispatch(t *testing.T) {
	t.Parallel()
	own := asking(protecting("0", "Prefix", "/"), "X-A", "1")
	all := plain("1", "Prefix", "/")
	other, same := asking(plain("2", "Prefix", "/"), "X-A", "2"), asking(plain("3", "Prefix", "/"), "x-a", "1")
	second := asking(plain("4", "Prefix", "/"), "X-B", "1")
	mine := func() *model.Location { return listed(at(mine, "0", model.Named, "mine")) }
	of := func(c Claim) *model.Location { return at(theirs, c.Field, model.Named, "of-"+c.Field) }
	for name, test := range map[string]struct {
		asked []Claim
		order []Claim
		to    []*model.Location
		open  string
	}{
		"the claim itself":                  {[]Claim{own, all}, []Claim{own, all}, []*model.Location{mine(), of(all)}, ""},
		"its protection was dropped":        {[]Claim{own, all}, []Claim{own, all}, []*model.Location{at(own.Owner, "0", model.Named, "mine"), of(all)}, "/ by mine"},
		"the claim was dropped":             {[]Claim{own, all}, []Claim{all}, []*model.Location{of(all)}, "/ by of-1"},
		"a rule for all before it":          {[]Claim{own, all}, []Claim{all, own}, []*model.Location{of(all), mine()}, "/ by of-1"},
		"other requests before it":          {[]Claim{own, other, all}, []Claim{other, own, all}, []*model.Location{of(other), mine(), of(all)}, ""},
		"an older one for the same":         {[]Claim{same, own}, []Claim{same, own}, []*model.Location{of(same), mine()}, ""},
		"a younger one for the same":        {[]Claim{own, same}, []Claim{same, own}, []*model.Location{of(same), mine()}, "/ by of-3"},
		"a younger one for what it may be":  {[]Claim{own, second, all}, []Claim{second, own, all}, []*model.Location{of(second), mine(), of(all)}, "/ by of-4"},
		"an older one for what it may be":   {[]Claim{second, own, all}, []Claim{second, own, all}, []*model.Location{of(second), mine(), of(all)}, ""},
		"the protected one is for the rest": {[]Claim{protecting("0", "Prefix", "/"), other}, []Claim{other, protecting("0", "Prefix", "/")}, []*model.Location{of(other), mine()}, ""},
	} {
		l, internal := handing("/", test.order, test.to...)
		var got []string
		for _, o := range Check(Asked{Claims: test.asked}, []*model.Location{l}, internal) {
			got = append(got, o.Path+" by "+o.Taker.Path)
			if o.Reached != l {
				t.Errorf("%s: reached is %v", name, o.Reached)
			}
		}
		if text := strings.Join(got, ", "); text != test.open {
			t.Errorf("%s: open are %q, want %q", name, text, test.open)
		}
	}
}
