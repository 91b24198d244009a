package annotations

import (
	"maps"
	"testing"
)

var corsForSome = map[string]string{
	"enable-cors": "true", "cors-allow-origin": "https://b.example:8443, https://*.a.example", "cors-allow-methods": "PUT",
	"cors-allow-headers": "X-A", "cors-expose-headers": "X-B", "cors-max-age": "60",
}

// TestCORSLists: Ingresses with equal lists share their entries in the maps; any
// difference makes others. The case cors-lists shows what they answer.
func TestCORSLists(t *testing.T) {
	t.Parallel()
	list := func(changes map[string]string) string {
		annotations := maps.Clone(corsForSome)
		maps.Copy(annotations, changes)
		return readWith(t, nil, annotations).Blocks()[0].Data.(corsBlock).List
	}
	first := list(nil)
	if got := list(map[string]string{"cors-allow-origin": "https://*.A.example,https://b.example:8443"}); got != first {
		t.Errorf("the same list in another order has %s, not %s", got, first)
	}
	for key, value := range map[string]string{"cors-allow-origin": "https://b.example:8443", "cors-allow-methods": "GET", "cors-max-age": "61", "cors-allow-credentials": "false"} {
		if got := list(map[string]string{key: value}); got == first {
			t.Errorf("%s=%s shares the list %s", key, value, got)
		}
	}
}
