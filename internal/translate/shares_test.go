package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lists of shares cost memory in each request of anybody. A namespace, and all together, may
// have some; the Ingresses beyond have the shares of the settings.
func TestListsOfSharesAreBudgeted(t *testing.T) {
	t.Parallel()
	var ingresses []ing
	want := map[string]bool{}
	add := func(name, list string, age int, sampled bool) {
		host := strings.ReplaceAll(name, "/", "-")
		want[host] = sampled
		ingresses = append(ingresses, ing{name: name, age: age, rules: []string{host + " / P a:80"}, annotations: map[string]string{"sluice.io/access-log-sampling": list}})
	}
	for n := range mostShares {
		add(fmt.Sprintf("n%d/i%d", n/mostSharesOfNamespace, n), fmt.Sprintf("%d=1%%", 200+n), 20, true)
	}
	add("n0/same", "200=1%", 19, true)
	add("n0/over", "300=1%", 18, false)
	add("n99/known", "201=1%", 17, true)
	add("n99/new", "301=1%", 16, false)
	ingresses = append(ingresses, ing{name: "n98/paths", age: 1, rules: []string{"paths / P a:80", "paths /a P a:80"},
		annotations: map[string]string{"sluice.io/paths.access-log-sampling": "/a: 302=1%"}})
	want["paths"] = false
	config, problems := world{ingresses: ingresses}.translate(t)
	for host, sampled := range want {
		for _, l := range serverNamed(t, config, host).Locations {
			if l.Proxy != nil && strings.Contains(fmt.Sprintf("%+v", l.Blocks), "upstreaminfo") != sampled {
				t.Errorf("%s%s: %.200s, sampled should be %v", host, l.Path, fmt.Sprintf("%+v", l.Blocks), sampled)
			}
		}
	}
	var got []string
	for _, p := range problems {
		if strings.HasPrefix(p, "NoRoom") {
			got = append(got, p)
		}
	}
	if diff := cmp.Diff([]string{"NoRoom Ingress n0/over sluice.io/access-log-sampling", "NoRoom Ingress n98/paths sluice.io/access-log-sampling", "NoRoom Ingress n99/new sluice.io/access-log-sampling"}, got); diff != "" {
		t.Errorf("%s\n%v", diff, problems)
	}
}
