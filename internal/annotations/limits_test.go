package annotations

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/model"
)

// A list of networks costs memory of nginx, or time of each request: a longer one is not
// valid. Who is exempt is forgotten then, and what keeps clients out closes.
func TestListsOfNetworksAreBounded(t *testing.T) {
	t.Parallel()
	for key, test := range map[string]struct {
		most   int
		denies bool
	}{
		"limit-allowlist": {256, false}, "limit-whitelist": {256, false},
		"allowlist-source-range": {4096, true}, "whitelist-source-range": {4096, true}, "denylist-source-range": {4096, true},
	} {
		for extra, valid := range []bool{true, false} {
			var list []string
			for n := range test.most + extra {
				list = append(list, fmt.Sprintf("2001:db8::%x", n))
			}
			a := readWith(t, nil, map[string]string{"limit-rps": "1", key: strings.Join(list, ",")})
			reported := slices.ContainsFunc(a.Problems(), func(p model.Problem) bool {
				return p.Reason == model.InvalidValue && p.Field == prefix+"/"+key && strings.Contains(p.Text, fmt.Sprintf("it has %d items, more than %d", len(list), test.most))
			})
			if reported == valid || a.Denied() != (test.denies && !valid) {
				t.Errorf("%d in %s: denied %v, %v", len(list), key, a.Denied(), a.Problems())
			}
			if key[0] == 'l' && (a.Limits.PerSecond != 1 || (len(a.Limits.Exempt) > 0) != valid) {
				t.Errorf("%d in %s: %d a second, %d exempt", len(list), key, a.Limits.PerSecond, len(a.Limits.Exempt))
			}
		}
	}
}
