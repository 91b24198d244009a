package translate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A namespace with very many limits closes what is too much of its own, and another
// one's limits hold.
func TestZonesAreBudgetedByNamespace(t *testing.T) {
	t.Parallel()
	lines, rules := "", []string(nil)
	for n := range mostZones - 1 {
		lines += fmt.Sprintf("/p%d: 1\n", n)
		rules = append(rules, fmt.Sprintf("big /p%d P a:80", n))
	}
	limit := map[string]string{"limit-rps": "1"}
	config, problems := world{
		ingresses: []ing{
			{name: "big", age: 9, annotations: map[string]string{"sluice.io/paths.limit-rps": lines}, rules: rules},
			{name: "fits", age: 8, annotations: limit, rules: []string{"fits / P a:80"}},
			{name: "free", age: 8, rules: []string{"free / P a:80"}},
			{name: "over", age: 7, annotations: limit, rules: []string{"over / P a:80"}},
			{name: "other/fits", age: 6, annotations: limit, rules: []string{"other / P a:80"}},
		},
	}.translate(t)
	for host, closed := range map[string]bool{"fits": false, "free": false, "over": true, "other": false} {
		l := serverNamed(t, config, host).Locations[0]
		if limited := len(l.Blocks) == 1; limited == closed && host != "free" || (l.Return != nil && l.Proxy == nil && l.Return.Code == 503) != closed && host != "other" {
			t.Errorf("%s: %+v, closed should be %v", host, l, closed)
		}
	}
	want := "NoRoom Ingress default/over * denies"
	var got []string
	for _, p := range problems {
		if p == want {
			got = append(got, p)
		}
	}
	if diff := cmp.Diff([]string{want}, got); diff != "" {
		t.Errorf("%s\n%v", diff, problems)
	}
}
