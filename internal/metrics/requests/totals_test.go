package requests

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTotals: the series of an Ingress are added up, with those that were cut, and an Ingress
// that is gone has none.
func TestTotals(t *testing.T) {
	t.Parallel()
	o := small
	o.Exists = func(_, name string) bool { return name != "gone" }
	s := New(o)
	add := func(n int, place, status, seconds string) {
		s.Add(fmt.Appendf(nil, "0\n%d\t%s\tGET\t%s\t\t%s\t1\t1\t\t\t", n, place, status, seconds))
	}
	const web, api = "h shop/web/web/80\t/", "h shop/api/api/80\t/"
	add(5, web, "200", "0.01")
	add(2, web, "404", "0.05")
	add(1, web, "503", "7")
	add(9, web, "302", "0.01") // one too many
	add(4, api, "500", "0.2")
	add(3, "h\t", "404", "0.000")
	add(1, "h shop/gone/web/80\t/", "200", "1")
	bounds, all := s.Totals()
	want := []Total{
		{Requests: 3, ClientErrors: 3, Times: []uint64{3, 0, 0}},
		{Ingress: Ingress{"shop", "api"}, Requests: 4, ServerErrors: 4, Times: []uint64{0, 0, 4}},
		{Ingress: Ingress{"shop", "web"}, Requests: 8, ClientErrors: 2, ServerErrors: 1, Cut: 9, Times: []uint64{5, 2, 1}},
	}
	if diff := cmp.Diff(want, all); diff != "" || len(bounds) != 2 {
		t.Errorf("bounds %v (-want +got)\n%s", bounds, diff)
	}
	o.Excluded = []string{Prefix + "request_duration_seconds"}
	s = New(o)
	add(5, web, "2xx", "0.01")
	if _, all := s.Totals(); len(all) != 1 || all[0].Times != nil || all[0].Requests != 5 {
		t.Errorf("without durations: %+v", all)
	}
}

// BenchmarkTotals10000 is what a question for the traffic of 10,000 Ingresses costs.
func BenchmarkTotals10000(b *testing.B) {
	s := filled(10000)
	b.ReportAllocs()
	for b.Loop() {
		s.Totals()
	}
}
