package annotations

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

const prefix = "nginx.ingress.kubernetes.io"

func readWith(t *testing.T, config, annotations map[string]string) *Annotations {
	t.Helper()
	s, _ := settings.Read(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ingress", Name: "controller"}, Data: config})
	full := map[string]string{"kubernetes.io/ingress.class": "nginx"}
	for key, value := range annotations {
		full[prefix+"/"+key] = value
	}
	ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: full}}
	return Read(ing, s, prefix)
}

func texts(p *Annotations) []string {
	var lines []string
	for _, problem := range p.Problems() {
		lines = append(lines, problem.String())
	}
	return lines
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	p := readWith(t, nil, nil)
	if len(p.Blocks()) > 0 || len(p.Problems()) > 0 || p.Denied() || len(p.Protects()) > 0 {
		t.Errorf("an Ingress without annotations: %+v", p)
	}
	want := SSLRedirect{WithCertificate: true}
	if diff := cmp.Diff(want, *p.SSLRedirect); diff != "" {
		t.Error(diff)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config, annotations map[string]string
		want                []any
	}{
		"one timeout":              {nil, map[string]string{"proxy-read-timeout": "120"}, []any{Timeouts{Read: 120}}},
		"as the ConfigMap":         {map[string]string{"proxy-read-timeout": "120"}, map[string]string{"proxy-read-timeout": "120", "proxy-body-size": "1024k"}, nil},
		"other than the ConfigMap": {map[string]string{"proxy-read-timeout": "120"}, map[string]string{"proxy-read-timeout": "60"}, []any{Timeouts{Read: 60}}},
		"any size":                 {nil, map[string]string{"proxy-body-size": "0"}, []any{BodySize{Max: "0"}}},
		"bytes":                    {nil, map[string]string{"proxy-body-size": "100B"}, []any{BodySize{Max: "100"}}},
		"retries": {nil, map[string]string{"proxy-next-upstream": "http_500", "proxy-next-upstream-tries": "2", "proxy-next-upstream-timeout": "0"},
			[]any{NextUpstream{When: keys.Words{"http_500"}, Tries: "2"}}},
		"retries without limit": {nil, map[string]string{"proxy-next-upstream-tries": "0"}, []any{NextUpstream{Tries: "0"}}},
		"retries of all methods": {map[string]string{"retry-non-idempotent": "true"}, map[string]string{"proxy-next-upstream": "error"},
			[]any{NextUpstream{When: keys.Words{"error", "non_idempotent"}}}},
		"allow list":                  {nil, map[string]string{"whitelist-source-range": "10.255.0.2/24, ::1"}, []any{AllowList{Networks: keys.CIDRs{"10.255.0.0/24", "::1"}}}},
		"allow list of the ConfigMap": {map[string]string{"whitelist-source-range": "10.0.0.1"}, nil, []any{AllowList{Networks: keys.CIDRs{"10.0.0.1"}}}},
		"allow list instead of the ConfigMap's": {map[string]string{"whitelist-source-range": "10.0.0.1"}, map[string]string{"allowlist-source-range": "10.0.0.2"},
			[]any{AllowList{Networks: keys.CIDRs{"10.0.0.2"}}}},
		"the alias of an empty annotation":     {nil, map[string]string{"allowlist-source-range": "", "whitelist-source-range": "10.0.0.2"}, []any{AllowList{Networks: keys.CIDRs{"10.0.0.2"}}}},
		"a bad timeout leaves the others":      {nil, map[string]string{"proxy-read-timeout": "60s", "proxy-send-timeout": "120", "proxy-body-size": "2m"}, []any{BodySize{Max: "2m"}, Timeouts{Send: 120}}},
		"a bad value leaves the behaviour out": {nil, map[string]string{"enable-cors": "true", "cors-allow-origin": "nonsense", "cors-max-age": "5", "proxy-body-size": "2m"}, []any{BodySize{Max: "2m"}}},
		"order of the table": {nil, map[string]string{"proxy-read-timeout": "1", "proxy-body-size": "2m", "allowlist-source-range": "::1"},
			[]any{AllowList{Networks: keys.CIDRs{"::1"}}, BodySize{Max: "2m"}, Timeouts{Read: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []any
			for _, b := range readWith(t, test.config, test.annotations).Blocks() {
				got = append(got, b.Data)
				if want := (model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}); b.Source != want {
					t.Errorf("source %v", b.Source)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	const denied = "; its paths answer 503 until this is mended"
	const list = `want IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32" `
	for name, test := range map[string]struct {
		config, annotations map[string]string
		want                []string
		denied              bool
	}{
		"number":                       {nil, map[string]string{"proxy-read-timeout": "abc"}, []string{`proxy-read-timeout: want a whole number of seconds from 1 to 31536000 (got "abc"); the default "60" holds until this is mended`}, false},
		"two of one":                   {nil, map[string]string{"proxy-read-timeout": "abc", "proxy-send-timeout": "0"}, []string{`proxy-read-timeout: want a whole number of seconds from 1 to 31536000 (got "abc"); the default "60" holds until this is mended`, `proxy-send-timeout: want a whole number of seconds from 1 to 31536000 (got "0"); the default "60" holds until this is mended`}, false},
		"empty is the default":         {nil, map[string]string{"rewrite-target": "", "proxy-body-size": " "}, nil, false},
		"allow list":                   {nil, map[string]string{"whitelist-source-range": "not-a-cidr"}, []string{"whitelist-source-range: " + list + `(got "not-a-cidr")` + denied}, true},
		"empty allow list":             {nil, map[string]string{"allowlist-source-range": ""}, []string{"allowlist-source-range: " + list + `(got "")` + denied}, true},
		"broken list of the ConfigMap": {map[string]string{"whitelist-source-range": "office"}, nil, nil, true},
		"a list of its own beside it":  {map[string]string{"whitelist-source-range": "office"}, map[string]string{"allowlist-source-range": "::1"}, nil, false},
		"ConfigMap asks for more":      {map[string]string{"block-cidrs": "10.0.0.0/33"}, nil, nil, true},
		"unknown":                      {nil, map[string]string{"no-such-annotation": "x"}, []string{"no-such-annotation: no annotation has this name"}, false},
		"mistyped":                     {nil, map[string]string{"use-rexeg": "true"}, []string{`use-rexeg: no annotation has this name; did you mean "use-regex"?`}, false},
		"not done":                     {nil, map[string]string{"auth-realm": "r", "canary-weight": "1", "canary": "false"}, []string{"auth-realm: it has no effect without nginx.ingress.kubernetes.io/auth-type", "canary-weight: it has no effect, as nginx.ingress.kubernetes.io/canary asks for nothing"}, false},
		"not done, protects":           {map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}, map[string]string{"modsecurity-snippet": "a;", "enable-modsecurity": "true"}, []string{`modsecurity-snippet: want directives of ModSecurity on lines of their own, such as SecRuleEngine On, that reach nothing outside of the location (got "a;"): line 1: "a;" is not accepted: want a directive that docs/modsecurity.md lists, with its arguments` + denied}, true},
		"not done, off":                {nil, map[string]string{"limit-rps": "0", "enable-modsecurity": ""}, []string{"enable-modsecurity: it is empty and protects nothing: write its value, or remove it"}, false},
		"empty deny list":              {nil, map[string]string{"denylist-source-range": ""}, []string{"denylist-source-range: " + list + `(got "")` + denied}, true},
		"idle":                         {nil, map[string]string{"enable-influxdb": "true"}, []string{"enable-influxdb: this annotation has no effect, as in ingress-nginx"}, false},
		"above the risk":               {map[string]string{"annotations-risk-level": "Low"}, map[string]string{"proxy-body-size": "2m"}, []string{"proxy-body-size: the risk of this annotation is Medium and the setting annotations-risk-level allows no more than Low"}, false},
		"above the risk, protects":     {map[string]string{"annotations-risk-level": "Low"}, map[string]string{"allowlist-source-range": "::1"}, []string{"allowlist-source-range: the risk of this annotation is Medium and the setting annotations-risk-level allows no more than Low" + denied}, true},
		"no effect":                    {nil, map[string]string{"cors-max-age": "1"}, []string{"cors-max-age: it has no effect without nginx.ingress.kubernetes.io/enable-cors"}, false},
		"key and alias":                {nil, map[string]string{"allowlist-source-range": "::1", "whitelist-source-range": "::2"}, []string{"whitelist-source-range: it has no effect beside nginx.ingress.kubernetes.io/allowlist-source-range, which says something else"}, false},
		"protocol":                     {nil, map[string]string{"backend-protocol": "SPDY"}, []string{`backend-protocol: want "HTTP", "HTTPS", "GRPC", "GRPCS", "FCGI" or "AUTO_HTTP" (got "SPDY")`}, false},
		"protocol, verified":           {nil, map[string]string{"backend-protocol": "SPDY", "proxy-ssl-secret": "a/b"}, []string{`backend-protocol: want "HTTP", "HTTPS", "GRPC", "GRPCS", "FCGI" or "AUTO_HTTP" (got "SPDY")` + denied}, true},
		"verify":                       {nil, map[string]string{"proxy-ssl-secret": "a/b", "proxy-ssl-verify": "yes"}, []string{`proxy-ssl-verify: want "on" or "off" (got "yes")` + denied}, true},
		"origin":                       {nil, map[string]string{"enable-cors": "true", "cors-allow-origin": "a.example"}, []string{`cors-allow-origin: want "*" or origins with their scheme separated by commas, such as "https://example.com, https://*.example.com:8443" (got "a.example"); the list is empty until this is mended`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readWith(t, test.config, test.annotations)
			var want []string
			for _, line := range test.want {
				want = append(want, "Ingress shop/web: "+prefix+"/"+line)
			}
			if diff := cmp.Diff(want, texts(p)); diff != "" {
				t.Error(diff)
			}
			if p.Denied() != test.denied {
				t.Errorf("Denied is %v, want %v", p.Denied(), test.denied)
			}
			if len(p.Blocks()) > 1 || len(p.Blocks()) == 1 && !strings.Contains(name, "list") && name != "key and alias" {
				t.Errorf("it prints %v", p.Blocks())
			}
		})
	}
}

func TestProtects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config, annotations map[string]string
		want                []string
	}{
		"nothing":       {nil, map[string]string{"proxy-body-size": "2m", "backend-protocol": "HTTPS"}, nil},
		"in force":      {nil, map[string]string{"allowlist-source-range": "::1"}, []string{"allow-list"}},
		"ConfigMap":     {map[string]string{"whitelist-source-range": "::1"}, nil, []string{"allow-list"}},
		"not valid":     {nil, map[string]string{"allowlist-source-range": "x"}, []string{"allow-list"}},
		"not supported": {nil, map[string]string{"server-snippet": "x", "modsecurity-snippet": "a", "enable-modsecurity": "true", "auth-realm": "x"}, []string{"modsecurity", "server-snippet"}},
		"limits":        {nil, map[string]string{"limit-rps": "1"}, []string{"limits"}},
		"limits, off":   {nil, map[string]string{"limit-rps": "00", "limit-rpm": "0", "limit-connections": " 0 "}, nil},
		"backends":      {nil, map[string]string{"proxy-ssl-secret": "a/b"}, []string{"transport"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, readWith(t, test.config, test.annotations).Protects()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	p := readWith(t, map[string]string{"force-ssl-redirect": "true"}, map[string]string{
		"use-regex": "1", "rewrite-target": "/$2", "ssl-redirect": "maybe", "preserve-trailing-slash": "true",
		"backend-protocol": "https", "proxy-ssl-secret": "shop/ca", "proxy-ssl-verify": "on", "proxy-ssl-name": "b.example", "proxy-ssl-server-name": "on", "proxy-ssl-verify-depth": "2",
	})
	if diff := cmp.Diff(Regex{Enabled: true}, *p.Regex); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Rewrite{Target: "/$2"}, *p.Rewrite); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(SSLRedirect{WithCertificate: true, Always: true, KeepTrailingSlash: true}, *p.SSLRedirect); diff != "" {
		t.Errorf("one bad value changed the others: %s", diff)
	}
	want := Transport{Protocol: "https", Secret: "shop/ca", Verify: "on", Name: "b.example", ServerName: "on", VerifyDepth: 2, Ciphers: "DEFAULT", Protocols: keys.Words{"TLSv1.2"}}
	if diff := cmp.Diff(want, *p.Transport); diff != "" || !p.Transport.TLS() {
		t.Error(diff)
	}
}

func TestAllNamesTemplatesOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range All() {
		if seen[b.Name] || len(b.Keys) == 0 {
			t.Errorf("%s: twice in the table, or without annotations", b.Name)
		}
		seen[b.Name] = true
	}
}

func TestOtherPrefixesAreNotRead(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		prefix + "/proxy-body-size": "9m", "example.com/proxy-body-size": "2m", prefix + "s/unknown": "x",
	}}}
	p := Read(ing, s, "example.com")
	if diff := cmp.Diff(BodySize{Max: "2m"}, *p.BodySize); diff != "" || len(p.Problems()) > 0 {
		t.Errorf("problems %v, %s", p.Problems(), diff)
	}
}

func BenchmarkRead(b *testing.B) {
	s, _ := settings.Read(nil)
	ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{prefix + "/proxy-body-size": "9m"}}}
	b.ReportAllocs()
	for b.Loop() {
		Read(ing, s, prefix)
	}
}

// What a behaviour prints as it is leaves out fields with their zero value. Where 0 or
// false may be said to beat a setting, the field has to be a keys.Optional.
func TestZeroValuesAreNotDropped(t *testing.T) {
	t.Parallel()
	for _, b := range behaviours {
		if _, prints := reflect.New(b.group).Interface().(printer); prints || b.Kind == Shaping {
			continue
		}
		for i := range b.group.NumField() {
			field := b.group.Field(i)
			if field.Tag.Get("from") == "" {
				continue
			}
			for _, zero := range []string{"0", "false"} {
				lookup := func(string) (string, bool) { return zero, true }
				group := reflect.New(b.group)
				faults := keys.Decode(group.Interface(), lookup, nil)
				valid := !slices.ContainsFunc(faults, func(f keys.Fault) bool { return f.Key == field.Tag.Get("key") })
				if valid && group.Elem().Field(i).IsZero() {
					t.Errorf("%s: %q is valid and would not be printed", field.Tag.Get("key"), zero)
				}
			}
		}
	}
}
