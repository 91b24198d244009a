package translate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/syntax"
)

func TestHeadersOfAConfigMap(t *testing.T) {
	t.Parallel()
	longest, most := strings.Repeat("A", 46), strings.Repeat("a", syntax.LongestHeaderValue)
	allowed := append([]string{"X-One", "x_two", "_", "Host", longest, longest + "A", "X One", "X:One", "X-One\n", "", "É"}, "connection", "content-length", "date", "keep-alive", "server", "te", "trailer", "transfer-encoding", "upgrade")
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
		{"X-One", most[:syntax.LongestHeaderValue-15-1] + "$", ""},
		{"X-One", most[:syntax.LongestHeaderValue-15] + "$", "printable ASCII"},
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

// A ConfigMap that Sluice may not read is not reported as missing. Its Problem changes
// when Sluice gets the permission.
func TestForbiddenConfigMapIsNotCalledMissing(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{
		{name: "asks", annotations: map[string]string{"auth-url": "http://192.0.2.1/", "auth-proxy-set-headers": "headers"}, rules: []string{"one / P a:80"}},
		{name: "headed", annotations: map[string]string{"custom-headers": "default/headers"}, rules: []string{"two / P a:80"}},
	}}
	memo, objects := NewMemo(), w.objects(t)
	texts := func() map[string]string {
		_, problems := Config(newSnapshot(t, objects), w.flags(), memo)
		found := map[string]string{}
		for _, p := range problems {
			if p.Denies && p.Reason == model.NotFound {
				found[p.Object.Name] = p.Text
			}
		}
		return found
	}
	objects.Forbidden = []model.ObjectRef{{Kind: "ConfigMap", Namespace: "default", Name: "headers"}}
	for name, text := range texts() {
		if !strings.Contains(text, "no permission to read ConfigMap default/headers") || !strings.Contains(text, "rbac.headerConfigMaps") {
			t.Errorf("%s, forbidden: %s", name, text)
		}
	}
	objects.Forbidden = nil
	missing := texts()
	for name, text := range missing {
		if text != "ConfigMap default/headers does not exist" {
			t.Errorf("%s, missing: %s", name, text)
		}
	}
	if len(missing) != 2 {
		t.Errorf("closed are %v", missing)
	}
}

// A Secret that Sluice may not read is not called missing either.
func TestForbiddenSecretIsNotCalledMissing(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{
		{name: "asks", annotations: map[string]string{"auth-type": "basic", "auth-secret": "users"}, rules: []string{"one / P a:80"}},
		{name: "other", annotations: map[string]string{"auth-type": "basic", "auth-secret": "other/users"}, rules: []string{"two / P a:80"}},
	}}
	flags, memo, objects := w.flags(), NewMemo(), w.objects(t)
	flags.DefaultCertificate = snapshot.Name{Namespace: "default", Name: "certificate"}
	texts := func() map[string]string {
		_, problems := Config(newSnapshot(t, objects), flags, memo)
		found := map[string]string{}
		for _, p := range problems {
			if p.Reason == model.NotFound {
				found[p.Object.Name] = p.Text
			}
		}
		return found
	}
	const grant = "name it in rbac.secretNames of the chart, or grant get on secrets in its namespace"
	secret := func(namespace, name string) model.ObjectRef {
		return model.ObjectRef{Kind: "Secret", Namespace: namespace, Name: name}
	}
	objects.Forbidden = []model.ObjectRef{secret("default", "users"), secret("other", "users"), secret("default", "certificate")}
	if diff := cmp.Diff(map[string]string{
		"asks":        "Sluice has no permission to read Secret default/users: " + grant,
		"other":       "Sluice has no permission to read Secret other/users: " + grant,
		"certificate": "Sluice has no permission to read Secret default/certificate: " + grant + "; a self-signed default certificate is presented",
	}, texts()); diff != "" {
		t.Error(diff)
	}
	objects.Forbidden = nil
	if missing := texts(); missing["asks"] != "Secret default/users does not exist" || !strings.HasPrefix(missing["certificate"], "it does not exist") {
		t.Errorf("missing: %v", missing)
	}
}
