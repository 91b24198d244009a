package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

// Limits beyond the maximum of a namespace close their paths. Those of other namespaces
// stay in force.
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

// Networks without limits cost memory in nginx. A namespace with too many of them has
// limits without exemptions. Ingresses with the same list share it.
func TestExemptionsAreBudgetedByNamespace(t *testing.T) {
	t.Parallel()
	list := func(first string) string {
		var networks []string
		for n := range 256 {
			networks = append(networks, fmt.Sprintf("%s::%x", first, n))
		}
		return strings.Join(networks, ",")
	}
	var ingresses []ing
	add := func(name, of string, age int) {
		ingresses = append(ingresses, ing{name: name, age: age, rules: []string{name[strings.Index(name, "/")+1:] + " / P a:80"},
			annotations: map[string]string{"limit-rps": "1", "limit-allowlist": of}})
	}
	for n := range mostExemptOfNamespace / 256 {
		add(fmt.Sprintf("big%d", n), list(fmt.Sprintf("2001:%x", n+1)), 27-n)
	}
	add("same", list("2001:1"), 12)
	add("over", "2001:db8::1", 11)
	add("other/fits", "2001:db8::2", 10)
	ingresses = append(ingresses, ing{name: "paths", age: 9, rules: []string{"paths / P a:80", "paths /a P a:80"},
		annotations: map[string]string{"limit-rps": "1", "sluice.io/paths.limit-whitelist": "/a: 2001:db8::3"}})
	config, problems := world{ingresses: ingresses}.translate(t)
	for host, exempts := range map[string]bool{"big0": true, "big7": true, "same": true, "over": false, "fits": true, "paths": false} {
		for _, l := range serverNamed(t, config, host).Locations {
			if l.Proxy == nil {
				continue
			}
			if text := fmt.Sprintf("%+v", l.Blocks); len(l.Blocks) != 1 || strings.Contains(text, "limits_exempt_") != exempts {
				t.Errorf("%s%s: %.200s, exempts should be %v", host, l.Path, text, exempts)
			}
		}
	}
	var got []string
	for _, p := range problems {
		if strings.HasPrefix(p, "NoRoom") {
			got = append(got, p)
		}
	}
	want := []string{"NoRoom Ingress default/over limit-allowlist", "NoRoom Ingress default/paths limit-allowlist"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%v", diff, problems)
	}
}

// Kept answers cost space on disk for each namespace. Beyond the maximum, the server is
// asked about each request; those of the settings are kept in one place for all.
func TestNamespacesWithKeptAnswersAreCounted(t *testing.T) {
	t.Parallel()
	var ingresses []ing
	add := func(name string, age int, more map[string]string) {
		all := map[string]string{"auth-url": "http://auth.test/check", "auth-cache-key": "$remote_user", "auth-cache-duration": "200 1m"}
		maps.Copy(all, more)
		host := strings.ReplaceAll(name, "/", "-")
		ingresses = append(ingresses, ing{name: name, age: age, rules: []string{host + " / P a:80"}, annotations: all})
	}
	for n := range mostAuthCaches {
		add(fmt.Sprintf("n%d/first", n), 21, nil)
	}
	add("n0/same", 20, nil)
	add("over/one", 19, nil)
	add("over/two", 18, map[string]string{"auth-cache-key": "", "sluice.io/paths.auth-cache-key": "/: everybody"})
	config, problems := world{ingresses: ingresses}.translate(t)
	for host, keeps := range map[string]bool{"n0-first": true, "n63-first": true, "n0-same": true, "over-one": false, "over-two": false} {
		server := serverNamed(t, config, host)
		if text := fmt.Sprintf("%+v", server.Internal[0].Blocks); !strings.Contains(text, "/check") && len(server.Internal) != 1 || strings.Contains(text, "auth_cache_") != keeps {
			t.Errorf("%s: %s, keeps should be %v", host, text, keeps)
		}
	}
	var got []string
	for _, p := range problems {
		if strings.HasPrefix(p, "NoRoom") {
			got = append(got, p)
		}
	}
	if diff := cmp.Diff([]string{"NoRoom Ingress over/one auth-cache-key", "NoRoom Ingress over/two auth-cache-key"}, got); diff != "" {
		t.Errorf("%s\n%v", diff, problems)
	}
}

// An Ingress over two maxima is told of both.
func TestOverTwoMaxima(t *testing.T) {
	t.Parallel()
	keeps := map[string]string{"auth-url": "http://auth.test/check", "auth-cache-key": "$remote_user", "auth-cache-duration": "200 1m"}
	var ingresses []ing
	for n := range mostAuthCaches {
		ingresses = append(ingresses, ing{name: fmt.Sprintf("n%d/first", n), age: 21, rules: []string{fmt.Sprintf("n%d / P a:80", n)}, annotations: keeps})
	}
	for n := range mostExemptOfNamespace / 256 {
		var networks []string
		for at := range 256 {
			networks = append(networks, fmt.Sprintf("2001:%x::%x", n+1, at))
		}
		ingresses = append(ingresses, ing{name: fmt.Sprintf("over/big%d", n), age: 20, rules: []string{fmt.Sprintf("big%d / P a:80", n)},
			annotations: map[string]string{"limit-rps": "1", "limit-allowlist": strings.Join(networks, ",")}})
	}
	both := maps.Clone(keeps)
	both["limit-rps"], both["limit-allowlist"] = "1", "2001:db8::1"
	ingresses = append(ingresses, ing{name: "over/last", age: 10, rules: []string{"last / P a:80"}, annotations: both})
	_, problems := world{ingresses: ingresses}.translate(t)
	for _, key := range []string{"auth-cache-key", "limit-allowlist"} {
		if !slices.Contains(problems, "NoRoom Ingress over/last "+key) {
			t.Errorf("no Problem of %s: %v", key, problems)
		}
	}
}

// Only limits that are divided depend on the number of replicas: it changes what is kept
// of the last call with the setting, and nothing without it.
func TestReplicasChangeDividedLimits(t *testing.T) {
	t.Parallel()
	for setting, divided := range map[string]bool{"true": true, "false": false} {
		w := world{
			config:    map[string]string{"limit-divide-by-replicas": setting},
			ingresses: []ing{{name: "one", annotations: map[string]string{"limit-rpm": "6"}, rules: []string{"one / P a:80"}}},
		}
		memo, snap, o := NewMemo(), newSnapshot(t, w.objects(t)), w.flags()
		var servers []*model.Server
		for _, replicas := range []int{1, 3, 3} {
			o.Replicas = replicas
			config, _ := Config(snap, o, memo)
			servers = append(servers, serverNamed(t, config, "one"))
		}
		if text := fmt.Sprintf("%+v", servers[1].Locations[0].Blocks); (servers[0] == servers[1]) == divided || servers[1] != servers[2] || strings.Contains(text, "2r/m") != divided {
			t.Errorf("limit-divide-by-replicas %s: %p %p %p\n%s", setting, servers[0], servers[1], servers[2], text)
		}
	}
}
