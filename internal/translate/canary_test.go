package translate

import (
	"slices"
	"strings"
	"testing"
)

// A canary of another namespace gets requests of a host only where that is delegated,
// and never owns one, served or not.
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
