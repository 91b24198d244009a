package e2e

import (
	"net/http"
	"sync"
	"testing"
)

// A client has costly hashes of passwords checked slowly, and waits its turn: what is
// more than may wait is refused. Requests without a password are not counted. The user
// here is none of the Secret, so that nothing is really checked.
func TestCostlyPasswordsAreCheckedSlowly(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"users.yaml": `apiVersion: v1
kind: Secret
metadata: {name: users, namespace: default}
stringData: {auth: "ann:$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"}
`,
			"shop.yaml": ingress("shop", "shop.example", []string{"/ Prefix web"}, "auth-type: basic", "auth-secret: users"),
		})
		s.waitStatus("http://shop.example/", http.StatusUnauthorized)
		if got := s.askAtOnce("http://shop.example/", nil, 130); got[http.StatusUnauthorized] != 130 {
			t.Errorf("without a password: %v, want 401", got)
		}
		guess := http.Header{"Authorization": {"Basic Ym9iOnNlY3JldA=="}}
		if got := s.askAtOnce("http://shop.example/", guess, 130); got[http.StatusServiceUnavailable] == 0 || got[http.StatusUnauthorized] < 10 {
			t.Errorf("with a password: %v, want 401, and 503 for those that are too many", got)
		}
	})
}

// askAtOnce sends a number of requests at once, and counts the answers by status; 0 is
// for those that took longer than a client waits.
func (s *sluice) askAtOnce(url string, header http.Header, number int) map[int]int {
	var group sync.WaitGroup
	var lock sync.Mutex
	statuses := map[int]int{}
	for range number {
		group.Go(func() {
			a, _ := s.ask(http.MethodGet, url, header)
			lock.Lock()
			defer lock.Unlock()
			statuses[a.status]++
		})
	}
	group.Wait()
	return statuses
}
