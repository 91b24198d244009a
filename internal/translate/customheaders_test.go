package translate

import (
	"strings"
	"testing"
)

func TestHeadersOfAConfigMap(t *testing.T) {
	t.Parallel()
	longest, most := strings.Repeat("A", 46), strings.Repeat("a", longestValue)
	allowed := append([]string{"X-One", "x_two", "_", "Host", longest, longest + "A", "X One", "X:One", "X-One\n", "", "É"}, ofTheConnection...)
	tests := []struct{ name, value, want string }{
		{"X-One", "a", ""},
		{"x-ONE", "a", ""},
		{"X_Two", "a", ""},
		{"_", "~", ""},
		{longest, most, ""},
		// A header of requests means nothing in an answer, and breaks none.
		{"Host", "a.example", ""},
		{"X-One", `"; } \ ' # $host {{`, ""},
		{"X-Two", "a", "that the setting global-allowed-response-headers allows"},
		{"X-One-", "a", "that the setting global-allowed-response-headers allows"},
		{longest + "A", "a", "want names of headers"},
		{"", "a", "want names of headers"},
		{"X One", "a", "want names of headers"},
		{"X:One", "a", "want names of headers"},
		{"X-One\n", "a", "want names of headers"},
		{"É", "a", "want names of headers"},
		{"X-One", "", "printable ASCII"},
		{"X-One", most + "a", "printable ASCII"},
		{"X-One", most[:longestValue-dollarCost-1] + "$", ""},
		{"X-One", most[:longestValue-dollarCost] + "$", "printable ASCII"},
		{"X-One", "a\r\nSet-Cookie: b", "printable ASCII"},
		{"X-One", "a\x00", "printable ASCII"},
		{"X-One", "a\tb", "printable ASCII"},
		{"X-One", "é", "printable ASCII"},
		{"Content-Length", "0", "that nginx writes itself"},
		{"content-LENGTH", "0", "that nginx writes itself"},
		{"Transfer-Encoding", "chunked", "that nginx writes itself"},
		{"Connection", "close", "that nginx writes itself"},
		{"Keep-Alive", "timeout=5", "that nginx writes itself"},
		{"TE", "trailers", "that nginx writes itself"},
		{"Trailer", "X-One", "that nginx writes itself"},
		{"Upgrade", "h2c", "that nginx writes itself"},
		{"Proxy-Connection", "close", "that nginx writes itself"},
		{"Server", "a", "that nginx writes itself"},
		{"Date", "a", "that nginx writes itself"},
	}
	for _, test := range tests {
		got := wrongHeader(test.name, test.value, allowed)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%.60q: %.60q: got %.90q, want %q", test.name, test.value, got, test.want)
		}
	}
	if got := wrongHeader("X-One", "a", nil); !strings.Contains(got, allowedHeaders) {
		t.Errorf("nothing is allowed: %q", got)
	}
}
