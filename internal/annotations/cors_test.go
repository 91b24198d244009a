package annotations

import (
	"maps"
	"strings"
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

// TestBadValuesOfCORSAllowNothingMore: of a list the valid items are allowed, and credentials
// only with true.
func TestBadValuesOfCORSAllowNothingMore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, value, header, want, told string }{
		{"cors-allow-methods", "GET, P0ST, PUT", "Access-Control-Allow-Methods", "GET, PUT", `(got "P0ST"); the list is GET, PUT until`},
		{"cors-allow-methods", "GET; PUT", "Access-Control-Allow-Methods", "", `(got "GET; PUT"); the list is empty until`},
		{"cors-allow-methods", "*", "Access-Control-Allow-Methods", "GET, PUT, POST, DELETE, PATCH, OPTIONS", "holds until"},
		{"cors-allow-methods", "GET,P0ST,*", "Access-Control-Allow-Methods", "GET, PUT, POST, DELETE, PATCH, OPTIONS", "holds until"},
		{"cors-allow-headers", "X-A, X B,X-C", "Access-Control-Allow-Headers", "X-A, X-C", `(got "X B"); the list is X-A, X-C until`},
		{"cors-allow-headers", "X;A", "Access-Control-Allow-Headers", "", `(got "X;A"); the list is empty until`},
		{"cors-allow-headers", "X B, *", "Access-Control-Allow-Headers", "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization", "holds until"},
		{"cors-expose-headers", "X-A, X B", "Access-Control-Expose-Headers", "X-A", `(got "X B"); the list is X-A until`},
		{"cors-allow-credentials", "flase", "Access-Control-Allow-Credentials", "", `(got "flase"); scripts send no credentials until`},
		{"cors-allow-credentials", "", "Access-Control-Allow-Credentials", "true", ""},
	} {
		p := readWith(t, nil, map[string]string{"enable-cors": "true", test.key: test.value})
		got := ""
		for _, header := range p.Blocks()[0].Data.(corsBlock).Headers {
			if header.Name == test.header {
				got = header.Value
			}
		}
		told := ""
		for _, problem := range p.Problems() {
			told += problem.Text
		}
		if got != test.want || !strings.Contains(told, test.told) || (told == "") != (test.told == "") {
			t.Errorf("%s: %q: %s %q, told %s", test.key, test.value, test.header, got, told)
		}
	}
}
