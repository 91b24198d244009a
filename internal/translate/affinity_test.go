package translate

import (
	"fmt"
	"testing"
)

// Paths with different cookies share the endpoints of their Service, and so the memory
// and time for these in each worker.
func TestCookiesShareEndpoints(t *testing.T) {
	t.Parallel()
	many := ing{name: "shop/web", annotations: map[string]string{"affinity": "cookie"}}
	for i := range 50 {
		many.rules = append(many.rules, fmt.Sprintf("shop.example /p%d P a:80", i))
	}
	persistent := ing{name: "shop/kept", annotations: map[string]string{"affinity": "cookie", "affinity-mode": "persistent", "session-cookie-name": "KEPT"}, rules: []string{"shop.example /kept P a:80"}}
	w := world{ingresses: []ing{many, persistent}}
	config, problems := w.translate(t)
	if len(problems) > 0 {
		t.Log(problems)
	}
	cookies, balanced := map[string]bool{}, map[string]string{}
	for _, b := range config.Dynamic.Backends {
		switch {
		case b.Split != nil && b.Split.Cookie != nil:
			cookies[b.Split.Cookie.Path+" "+b.Split.Main] = true
		case b.Balancing != nil:
			balanced[b.Key] = string(b.Balancing.Affinity)
		}
	}
	if len(cookies) != 51 || len(balanced) != 2 {
		t.Errorf("want 51 cookies of 2 backends, got %d of %v", len(cookies), balanced)
	}
}
