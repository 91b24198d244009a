package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestNothingFallsBackToLess: settings that bound what authors and clients may do stay as
// they are written when nginx refuses the settings, and so do the parts of a protection.
func TestNothingFallsBackToLess(t *testing.T) {
	t.Parallel()
	written := map[string]string{
		"max-hosts-per-namespace": "10", "Max-Paths-Per-Namespace": "20", "target-scope": "namespace", "host-ownership": "namespace",
		"annotations-risk-level": "Low", "allow-snippet-annotations": "false", "allow-cross-namespace-resources": "false",
		"annotation-value-word-blocklist": "alias", "global-allowed-response-headers": "X-A", "password-hash-max-cost": "8",
		"no-auth-locations": "", "no-tls-redirect-locations": "", "nginx-status-ipv4-whitelist": "", "nginx-status-ipv6-whitelist": "",
		"debug-header-cidrs": "192.0.2.1", "global-auth-url": "https://a.example/", "global-auth-response-headers": "X-User",
		"global-auth-method": "POST", "global-auth-cache-key": "$http_authorization", "global-auth-cache-duration": "200 1m",
	}
	with := func(ciphers string) map[string]string {
		data := map[string]string{"ssl-ciphers": ciphers}
		for key, value := range written {
			data[key] = value
		}
		return data
	}
	for name, good := range map[string]*corev1.ConfigMap{
		"defaults": nil,
		"laxer ones": {Data: map[string]string{
			"ssl-ciphers": "good", "max-hosts-per-namespace": "0", "max-paths-per-namespace": "100", "target-scope": "any",
			"no-auth-locations": "/public", "global-auth-response-headers": "X-Other", "debug-header-cidrs": "0.0.0.0/0",
		}},
	} {
		want := with("good")
		if good == nil {
			delete(want, "ssl-ciphers")
		}
		fallen := FallBack(&corev1.ConfigMap{Data: with("bad")}, good, func(string) bool { return true })
		if diff := cmp.Diff(want, fallen.Data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestStricterSettings: each setting that permits something is compared, and its end is noticed.
func TestStricterSettings(t *testing.T) {
	t.Parallel()
	lax := map[string]string{
		"max-hosts-per-namespace": "0", "max-paths-per-namespace": "9", "target-scope": "any", "host-ownership": "shared",
		"annotations-risk-level": "High", "allow-snippet-annotations": "true", "allow-cross-namespace-resources": "true",
		"annotation-value-word-blocklist": "alias", "global-allowed-response-headers": "X-A,X-B", "password-hash-max-cost": "9",
		"no-auth-locations": "/a,/b", "no-tls-redirect-locations": "/a", "nginx-status-ipv4-whitelist": "10.0.0.0/8",
		"nginx-status-ipv6-whitelist": "::/0", "debug-header-cidrs": "192.0.2.0/24,10.0.0.0/8",
	}
	strict := map[string]string{
		"max-hosts-per-namespace": "1", "max-paths-per-namespace": "8", "target-scope": "namespace", "host-ownership": "namespace",
		"annotations-risk-level": "Low", "allow-snippet-annotations": "false", "allow-cross-namespace-resources": "false",
		"annotation-value-word-blocklist": "alias,root", "global-allowed-response-headers": "X-B", "password-hash-max-cost": "8",
		"no-auth-locations": "/a", "no-tls-redirect-locations": "", "nginx-status-ipv4-whitelist": "10.1.0.0/16",
		"nginx-status-ipv6-whitelist": "", "debug-header-cidrs": "192.0.2.1",
	}
	for _, group := range Groups() {
		for _, doc := range group.Keys {
			if !doc.Permits {
				continue
			}
			if stricter[doc.Key] == nil {
				t.Errorf("%s is not compared", doc.Key)
				continue
			}
			read := func(data map[string]string) *Settings {
				values, problems := Read(&corev1.ConfigMap{Data: map[string]string{doc.Key: data[doc.Key], "debug-header-secret": "a/b"}})
				if len(problems) > 0 {
					t.Errorf("%s: %v", doc.Key, problems)
				}
				return values
			}
			a, b := read(lax), read(strict)
			if diff := cmp.Diff([]string{doc.Key}, b.stricterThan(a)); diff != "" || len(a.stricterThan(b)) > 0 || len(a.stricterThan(a)) > 0 {
				t.Errorf("%s: stricter is %v, and the other way round %v", doc.Key, b.stricterThan(a), a.stricterThan(b))
			}
		}
	}
}

// TestQuestionsAreNotAskedWithoutTheirSnippet, unless they were before.
func TestQuestionsAreNotAskedWithoutTheirSnippet(t *testing.T) {
	t.Parallel()
	const url, snippet = "global-auth-url", "global-auth-snippet"
	written := map[string]string{url: "https://a.example/", snippet: "proxy_set_header X-Key one;"}
	tests := map[string]struct {
		written, good map[string]string
		closed        bool
		snippet       string
	}{
		"no good form":              {written, nil, true, ""},
		"no server before":          {written, map[string]string{"ssl-ciphers": "good"}, true, ""},
		"no snippet before":         {written, map[string]string{url: "https://a.example/"}, false, ""},
		"another snippet before":    {written, map[string]string{url: "https://a.example/", snippet: "proxy_set_header X-Key two;"}, false, "proxy_set_header X-Key two;"},
		"a snippet, and no server":  {map[string]string{snippet: "proxy_set_header X-Key one;"}, nil, false, ""},
		"a server, and no snippet":  {map[string]string{url: "https://a.example/"}, nil, false, ""},
		"an empty snippet, as none": {map[string]string{url: "https://a.example/", snippet: " "}, nil, false, ""},
	}
	for name, test := range tests {
		var good *corev1.ConfigMap
		if test.good != nil {
			good = &corev1.ConfigMap{Data: test.good}
		}
		got, _ := Read(FallBack(&corev1.ConfigMap{Data: test.written}, good, func(string) bool { return true }))
		if got.Broken(url) != test.closed || !test.closed && string(got.Auth.Snippet) != test.snippet {
			t.Errorf("%s: closed %t, want %t; asked with the snippet %q, want %q", name, got.Broken(url), test.closed, got.Auth.Snippet, test.snippet)
		}
		if want := test.written[url]; !test.closed && got.Auth.URL != want {
			t.Errorf("%s: asks %q, want %q", name, got.Auth.URL, want)
		}
	}
}
