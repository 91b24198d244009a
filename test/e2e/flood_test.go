package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestFloodOfBadEditsHoldsNobodyElseBack edits 100 Ingresses of one namespace,
// again and again, so that nginx refuses them. A new host of another namespace is
// served nearly as soon as without that. The delays are printed. The test allows
// twice the delay before or after the flood, whichever is longer, and two seconds
// more, for a machine that is busy with other tests.
func TestFloodOfBadEditsHoldsNobodyElseBack(t *testing.T) {
	oneNginxAlone(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{"class.yaml": class, "web.yaml": service("web", web)})
		flood := func(round int) {
			many := ""
			for i := range 100 {
				path := fmt.Sprintf("/r%d-%c(b ImplementationSpecific web", round, 'a'+i%26)
				many += named("tenant", ingress(fmt.Sprintf("bad-%d", i), fmt.Sprintf("bad-%d.example", i), []string{path}, "use-regex: true"))
			}
			s.write("many.yaml", many)
		}
		count := 0
		add := func() time.Duration {
			count++
			host := fmt.Sprintf("good-%d.example", count)
			began := time.Now()
			s.write(host+".yaml", ingress(fmt.Sprintf("good-%d", count), host, []string{"/ Prefix web"}))
			s.waitBackend("http://"+host+"/", "web")
			return time.Since(began)
		}
		median := func(flooded bool) time.Duration {
			var all []time.Duration
			for round := range 7 {
				if flooded {
					flood(100*count + round)
					time.Sleep(50 * time.Millisecond)
				}
				all = append(all, add())
				time.Sleep(700 * time.Millisecond)
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		without := median(false)
		flood(0)
		first := add()
		with := median(true)
		s.remove("many.yaml")
		add() // the flood is over when it is served
		after := median(false)
		t.Logf("a new host is served after %v, beside the first bad edits after %v, during a flood of them after %v, and %v when they are gone", without, first, with, after)
		if usual := max(without, after); with > 2*usual+2*time.Second {
			t.Errorf("%v during the flood, far more than twice %v", with, usual)
		}
	})
}
