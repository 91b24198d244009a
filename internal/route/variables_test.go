package route

import "testing"

// TestVariables: $http_NAME and $cookie_NAME are as nginx reads them, also where that is
// surprising. The golden case canary-headers has nginx's answers.
func TestVariables(t *testing.T) {
	t.Parallel()
	const none = "(none)"
	for _, test := range []struct {
		variable string
		headers  []Header
		takes    bool
		want     string
	}{
		{"http_x_a", []Header{{"X-A", "v"}}, false, "v"},
		{"http_x_a", []Header{{"X_A", "v"}}, false, none},
		{"http_x_a", []Header{{"X_A", "v"}}, true, "v"},
		{"http_x_a", []Header{{"X_A", "v"}, {"x-a", "w"}}, true, "v, w"},
		{"http_x_a", []Header{{"X-A", " v "}}, false, "v"},
		{"http_x_a", []Header{{"X-A", "v\t"}}, false, "v\t"},
		{"http_x_a", []Header{{"X-A", ""}}, false, ""},
		{"http_cookie", []Header{{"Cookie", "a=1"}, {"Cookie", "b=2"}}, false, "a=1; b=2"},
		{"http_x_a", nil, false, none},
		{"cookie_c", nil, false, none},
		{"cookie_c", []Header{{"Cookie", "c=v"}}, false, "v"},
		{"cookie_c", []Header{{"Cookie", "C=v"}}, false, "v"},
		{"cookie_c", []Header{{"Cookie", "c="}}, false, ""},
		{"cookie_c", []Header{{"Cookie", "cc=v"}}, false, none},
		{"cookie_c", []Header{{"Cookie", "x=1;c=v;y=2"}}, false, "v"},
		{"cookie_c", []Header{{"Cookie", "x=1,c=v"}}, false, "v"},
		{"cookie_c", []Header{{"Cookie", "c=v,d=w"}}, false, "v,d=w"},
		{"cookie_c", []Header{{"Cookie", "c = v"}}, false, "v"},
		{"cookie_c", []Header{{"Cookie", "c=v ; d=w"}}, false, "v "},
		{"cookie_c", []Header{{"Cookie", "c"}}, false, none},
		{"cookie_c", []Header{{"Cookie", "c;c=v"}}, false, none},
		{"cookie_c", []Header{{"Cookie", "c;c=w;c=v"}}, false, "v"},
		{"cookie_c", []Header{{"Cookie", "\tc=v"}}, false, none},
		{"cookie_c", []Header{{"Cookie", "a=1"}, {"Cookie", "c=v"}}, false, "v"},
	} {
		r := Request{Headers: test.headers, Underscores: test.takes}
		got, ok := r.Variable(test.variable)
		if !ok {
			got = none
		}
		if got != test.want {
			t.Errorf("$%s of %q: got %q, want %q", test.variable, test.headers, got, test.want)
		}
	}
}
