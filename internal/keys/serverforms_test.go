package keys

import (
	"strings"
	"testing"
)

// TestRefusedFormsNameTheAllowedOnes: and the page that lists them all.
func TestRefusedFormsNameTheAllowedOnes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"limit_req_dry_run on;":              "error_page and sizes of headers in some forms",
		"error_page 403 /a;":                 "404, 406 to 410",
		"proxy_intercept_errors off;":        "want on",
		"client_header_buffer_size 1m;":      "1k to 64k",
		"large_client_header_buffers 1 64k;": "4 to 8 buffers",
		"allow 192.0.2.1;":                   "allow all as the last rule",
		"deny 192.0.2.1; allow 192.0.2.2;":   "allow all as the last rule",
	} {
		var snippet ServerSnippet
		err := snippet.UnmarshalText([]byte(text))
		if _, why := snippet.Inherited(); err != nil || !strings.Contains(why, want) || !strings.Contains(why, "docs/snippets.md") {
			t.Errorf("%s: %v, %s", text, err, why)
		}
	}
}
