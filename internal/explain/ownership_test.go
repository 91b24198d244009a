package explain

import (
	"strings"
	"testing"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// What a host loses that another namespace owns is said, with what to write.
func TestWhyCandidatesAreNotDelegated(t *testing.T) {
	t.Parallel()
	guest := strings.Replace(ingress("guest", []string{"shop.example /y Prefix web", "shop.example /x Prefix web", "default web"}), "namespace: shop", "namespace: guests", 1)
	in := inputOf(t, ingress("owner", []string{"shop.example / Prefix web"})+guest+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: sluice}\ndata: {host-ownership: namespace}\n",
		func(o *translate.Options) { o.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"} })
	e := asked(t, in, "shop.example/x")
	if e.Winner == nil || e.Winner.Object.Name != "owner" {
		t.Fatalf("the winner is %v", e.Winner)
	}
	told := 0
	for _, c := range e.Losers {
		if c.Object.Name == "guest" && c.Verdict == NotDelegated && strings.Contains(c.Why, `write "guests" in the annotation sluice.io/host-delegation`) && len(c.Problems) == 1 {
			told++
		}
	}
	if told != 3 {
		t.Errorf("of the guest's two rules and its spec.defaultBackend %d are told why: %v", told, lost(e))
	}
}
