package explain

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseRequest(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]Request{
		"http://shop.example/cart?id=1":   {"GET", "http", "shop.example", "/cart?id=1", nil},
		"HTTPS://Shop.Example:8443/%2e/#": {"GET", "https", "Shop.Example:8443", "/%2e/#", nil},
		"shop.example/":                   {"GET", "http", "shop.example", "/", nil},
		"shop.example":                    {"GET", "http", "shop.example", "/", nil},
		"shop.example?a=b":                {"GET", "http", "shop.example", "/?a=b", nil},
		"shop.example:443/x":              {"GET", "https", "shop.example:443", "/x", nil},
		"shop.example:80/x":               {"GET", "http", "shop.example:80", "/x", nil},
		"http://shop.example:443/x":       {"GET", "http", "shop.example:443", "/x", nil},
		"shop.example/to?u=http://x":      {"GET", "http", "shop.example", "/to?u=http://x", nil},
		"[::1]:8080/x":                    {"GET", "http", "[::1]:8080", "/x", nil},
		"my_host/a b":                     {"GET", "http", "my_host", "/a b", nil}, // nginx answers 400
	} {
		if got, err := ParseRequest("GET", url); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", url, got, err, want)
		}
	}
}

func TestParseRequestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const shape = "URL: want http://host/path, https://host/path or host/path"
	for _, test := range []struct{ method, url, want string }{
		{"get", "shop.example/", `METHOD: want it in capitals, such as GET (got "get")`},
		{"", "shop.example/", "METHOD: want it in capitals"},
		{"GET /\n", "shop.example/", `(got "GET /\n")`},
		{"GET", "", shape}, {"GET", "/cart", shape}, {"GET", "ftp://shop.example/", shape + ` (got "ftp://shop.example/")`},
		{"GET", "http:///x", shape}, {"GET", "a..b/", shape}, {"GET", "shop\n.example/", shape}, {"GET", "user@shop.example/", shape},
		{"GET", "*.shop.example/", shape}, {"GET", "shop.example:x/", shape}, {"GET", strings.Repeat("a", 254) + "/", shape},
		{"GET", "shop.example:0/", `URL: want a port from 1 to 65535 (got "shop.example:0/")`}, {"GET", "shop.example:99999/", "want a port"},
	} {
		_, err := ParseRequest(test.method, test.url)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q %q: got %v, want %s", test.method, test.url, err, test.want)
		}
	}
}

// TestParseHeader: a tab at an end of the value stays, as in nginx.
func TestParseHeader(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"X-Canary: always": "always", "X-Canary:  always ": "always", "X-Canary: always\t": "always\t", "X-Canary:\talways": "\talways"} {
		if h, err := ParseHeader(text); err != nil || h.Name != "X-Canary" || h.Value != want {
			t.Errorf("%q: got %+v, %v", text, h, err)
		}
	}
}
