package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/internal/model"
)

// A canary of another namespace gets requests of a host only with a delegation. It
// never owns a host, served or not.
func TestCanariesOfOtherNamespaces(t *testing.T) {
	t.Parallel()
	main := ing{name: "victim/shop", age: 5, rules: []string{"shop.example / P a:80"}}
	canary := ing{name: "guest/can", age: 10, annotations: map[string]string{"canary": "true", "canary-weight": "100"}, rules: []string{"shop.example / P b:80", "other.example / P b:80"}}
	for ownership, want := range map[string]bool{"namespace": false, "shared": true} {
		w := world{config: map[string]string{"host-ownership": ownership}, ingresses: []ing{main, canary}}
		config, problems := w.translate(t)
		split := false
		for _, b := range config.Dynamic.Backends {
			split = split || b.Split != nil
		}
		told := slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, "NotDelegated Ingress guest/can") })
		if split != want || told == want || ask(config, "shop.example/") != "^~ / -> a" || ask(config, "other.example/") != "/ -> 404" {
			t.Errorf("%s: a split %t, told %t, %v", ownership, split, told, problems)
		}
	}
}

// A canary gets requests only if the path that it shares has each of its protections with
// the same value. A Secret of the same name in another namespace has other users.
func TestCanariesComparePartsByValue(t *testing.T) {
	t.Parallel()
	users := func(namespace string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: %s, uid: %[1]s}\nstringData: {auth: \"a:{PLAIN}b\"}\n", namespace)
	}
	basic := map[string]string{"auth-type": "basic", "auth-secret": "users"}
	for name, test := range map[string]struct {
		main, canary map[string]string
		namespace    string
		want         bool
		lacks        string
	}{
		"the same networks":          {map[string]string{"whitelist-source-range": "10.0.0.0/8"}, map[string]string{"whitelist-source-range": "10.0.0.0/8"}, "shop", true, ""},
		"more networks":              {map[string]string{"whitelist-source-range": "0.0.0.0/0"}, map[string]string{"whitelist-source-range": "10.0.0.0/8"}, "shop", false, "has another allow-list"},
		"another authentication":     {map[string]string{"auth-url": "http://203.0.113.1/all"}, map[string]string{"auth-url": "http://203.0.113.1/few"}, "shop", false, "has another external-auth"},
		"the same users":             {basic, basic, "shop", true, ""},
		"users of another namespace": {basic, basic, "guest", false, "has another basic-auth"},
		"a Secret that is missing":   {basic, map[string]string{"auth-type": "basic", "auth-secret": "nosuch"}, "shop", false, ""},
		"further protection":         {map[string]string{"whitelist-source-range": "10.0.0.0/8", "denylist-source-range": "10.1.0.0/16"}, map[string]string{"whitelist-source-range": "10.0.0.0/8"}, "shop", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canary := maps.Clone(test.canary)
			canary["canary"], canary["canary-weight"] = "true", "100"
			w := world{yaml: users("shop") + users("guest"), ingresses: []ing{
				{name: "shop/main", age: 5, annotations: test.main, rules: []string{"shop.example / P a:80"}},
				{name: test.namespace + "/can", annotations: canary, rules: []string{"shop.example / P b:80"}},
			}}
			config, problems := Config(newSnapshot(t, w.objects(t)), w.flags(), nil)
			split := slices.ContainsFunc(config.Dynamic.Backends, func(b *model.Backend) bool { return b.Split != nil })
			at := slices.IndexFunc(problems, func(p model.Problem) bool { return strings.Contains(p.Text, "whose path it shares, has ") })
			if split != test.want || (at >= 0) != (test.lacks != "") || at >= 0 && !strings.Contains(problems[at].Text, test.lacks) {
				t.Errorf("a split %t, want %t, Problems %v", split, test.want, problems)
			}
		})
	}
}
