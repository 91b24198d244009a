package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

func read(data map[string]string) (*Settings, []string) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ingress", Name: "controller"}, Data: data}
	s, problems := Read(cm)
	return s, lines(problems)
}

func lines(problems []model.Problem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, string(p.Reason)+" "+p.String())
	}
	return lines
}

func TestRead(t *testing.T) {
	t.Parallel()
	got, problems := read(map[string]string{
		"worker-processes": "2", "Proxy-Read-Timeout": "120", "proxy-buffer-size": "1024k", "ssl-ciphers": "", "hsts": "",
		"no-tls-redirect-locations": "", "large-client-header-buffers": "4 32k", "whitelist-source-range": "10.0.0.1, ::1/64",
		"proxy-next-upstream": "error http_503", "keep-alive": "", "annotations-risk-level": "critical",
	})
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	want, _ := Read(nil)
	want.Workers.Processes = 2
	want.Proxy.ReadTimeout = 120
	want.Proxy.BufferSize = "1m"
	want.Proxy.NextUpstream = keys.Words{"error", "http_503"}
	want.TLS.Ciphers = ""
	want.HSTS.Enabled = false
	want.Redirects.NoTLSLocations = nil
	want.Client.LargeHeaderBuffers = keys.Buffers{Number: 4, Size: "32k"}
	want.Access.AllowList = keys.CIDRs{"10.0.0.1", "::/64"}
	want.Annotations.RiskLevel = keys.RiskCritical
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Settings{})); diff != "" {
		t.Error(diff)
	}
	for key, value := range map[string]string{"proxy-read-timeout": "120", "ssl-ciphers": "", "keep-alive": "75", "proxy-send-timeout": "60"} {
		if text, ok := got.Value(key); !ok || text != value {
			t.Errorf("Value(%s): %q, %v, want %q", key, text, ok, value)
		}
	}
	if _, ok := got.Value("no-such-key"); ok {
		t.Error("a key that is not there has a value")
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	s, got := read(map[string]string{
		"proxy-read-timeout": "60s", "proxy-buffers-number": "1", "use-gziip": "true", "use-geoip": "true",
		"whitelist-source-range": "office", "log-format-upstream": "a\nb",
	})
	want := []string{
		`InvalidValue ConfigMap ingress/controller: log-format-upstream: want one line of text of at most 3500 characters (got "a\nb")`,
		`InvalidValue ConfigMap ingress/controller: proxy-buffers-number: want a whole number from 2 to 1024 (got "1")`,
		`InvalidValue ConfigMap ingress/controller: proxy-read-timeout: want a whole number of seconds from 1 to 31536000 (got "60s")`,
		`NoEffect ConfigMap ingress/controller: use-geoip: this setting has no effect, as in ingress-nginx`,
		`Unread ConfigMap ingress/controller: use-gziip: no setting has this name; did you mean "use-gzip"?`,
		`InvalidValue ConfigMap ingress/controller: whitelist-source-range: want IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32" (got "office"); every path that these settings apply to answers 503 until this is mended`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text, _ := s.Value("proxy-read-timeout"); text != "60" || s.Proxy.ReadTimeout != 60 {
		t.Errorf("a bad value does not leave the default: %q, %d", text, s.Proxy.ReadTimeout)
	}
	if !s.Broken("whitelist-source-range") || s.Broken("proxy-read-timeout") || s.Denies() {
		t.Error("only a list that protects and cannot be read is broken")
	}
}

// What ingress-nginx would close, and Sluice cannot, closes everything.
func TestUnsupportedProtections(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key, value string
		want       bool
	}{
		{"block-cidrs", "192.0.2.0/33", true},
		{"block-user-agents", "~(", true},
		{"bind-address", "all", true},
		{"global-request-headers", "Host: a", true},
		{"global-response-headers", "Server: a", false},
	} {
		s, problems := read(map[string]string{test.key: test.value})
		if s.Denies() != test.want || len(problems) != 1 {
			t.Errorf("%s=%q: denies %v, problems %v", test.key, test.value, s.Denies(), problems)
		}
	}
}

// A snippet that may restrict access closes everything where it is not in force.
func TestSnippetsThatAreNotInForceClose(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key, value string
		want       bool
	}{
		{"http-snippet", "deny all", true}, {"server-snippet", "server_name x;", true}, {"location-snippet", "}", true}, {"main-snippet", "env", false}, {"stream-snippet", "}", false},
		{"http-snippet", "deny all;", false}, {"http-snippet", " ", false}, {"annotation-value-word-blocklist", "a\x01", true},
	} {
		s, problems := read(map[string]string{test.key: test.value})
		if s.Denies() != test.want || (len(problems) > 0) != (test.want || test.key == "main-snippet" || test.key == "stream-snippet") {
			t.Errorf("%s=%q: denies %v, problems %v", test.key, test.value, s.Denies(), problems)
		}
	}
}

// A refused snippet falls back to its last good text; without one, all paths are closed,
// unless it restricts none.
func TestFallBackOfSnippets(t *testing.T) {
	t.Parallel()
	written := &corev1.ConfigMap{Data: map[string]string{"HTTP-Snippet": "bad;", "main-snippet": "bad;", "annotation-value-word-blocklist": "x"}}
	all := func(string) bool { return true }
	if s, problems := Read(FallBack(written, nil, all)); !s.Denies() || len(problems) > 0 || s.MainSnippet.Text != "" || len(s.Annotations.WordBlocklist) != 1 {
		t.Errorf("without a good text: %v, %+v", problems, s)
	}
	if s, _ := Read(FallBack(written, nil, func(key string) bool { return key == "main-snippet" })); s.Denies() || s.HTTPSnippet.Text != "bad;" {
		t.Error("a refused main-snippet changes another one")
	}
	good := &corev1.ConfigMap{Data: map[string]string{"http-snippet": "deny all;"}}
	if s, _ := Read(FallBack(written, good, all)); s.Denies() || s.HTTPSnippet.Text != "deny all;" {
		t.Errorf("with a good text: %+v", s.HTTPSnippet)
	}
}

func TestKeysThatDifferInCaseOnly(t *testing.T) {
	t.Parallel()
	for range 20 {
		if s, _ := read(map[string]string{"KEEP-ALIVE": "1", "Keep-Alive": "2", "keep-alive": "3"}); s.Client.KeepAlive != 3 {
			t.Fatalf("keep-alive is %d, want that of the key in lower case", s.Client.KeepAlive)
		}
	}
}

// A key that another one hides may be the one that was to protect.
func TestHiddenKeysThatProtectClose(t *testing.T) {
	t.Parallel()
	s, problems := read(map[string]string{"Whitelist-Source-Range": "10.0.0.0/8", "whitelist-source-range": ""})
	want := []string{"Ambiguous ConfigMap ingress/controller: Whitelist-Source-Range: another key differs from this one in case only, and counts; every path that these settings apply to answers 503 until this is mended"}
	if diff := cmp.Diff(want, problems); !s.Denies() || diff != "" {
		t.Errorf("denies %v (-want +got):\n%s", s.Denies(), diff)
	}
	if s, problems := read(map[string]string{"Keep-Alive": "1", "keep-alive": "2"}); s.Denies() || len(problems) != 1 {
		t.Errorf("denies %v, %v", s.Denies(), problems)
	}
	if s, problems := read(map[string]string{"Whitelist-Source-Range": "10.0.0.0/8", "whitelist-source-range": "10.0.0.0/8"}); s.Denies() || len(problems) != 0 {
		t.Errorf("the same twice: denies %v, %v", s.Denies(), problems)
	}
}

// What says who decides, or who is believed, is read as a value that is not valid if
// its name is misspelled: never as the default, which is the more open.
func TestMisspelledLimitsHold(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"host-ownership", "host-ownershp"} {
		if s, problems := read(map[string]string{name: "namspace"}); !s.Hosts.ByNamespace() || len(problems) != 1 {
			t.Errorf("%s: by namespace %v, %v", name, s.Hosts.ByNamespace(), problems)
		}
	}
	for key, value := range map[string]string{"annotations-risk-level": "bogus", "annotations-risk-lvel": "Medium", "Annotations-Risk-Level": ""} {
		if s, _ := read(map[string]string{key: value}); s.Annotations.RiskLevel != keys.RiskLow {
			t.Errorf("%s %q: %s, want Low as in ingress-nginx", key, value, s.Annotations.RiskLevel)
		}
	}
	for _, values := range []map[string]string{{"target-scope": "all"}, {"target-scop": "any"}, {"target-scope": ""}} {
		if s, _ := read(values); !s.Targets.OwnNamespace() {
			t.Errorf("%v: requests may go anywhere", values)
		}
	}
	if s, _ := read(map[string]string{"proxy-real-ip-cidrs": "10.0.0.0/8"}); len(s.Forwarded.Trusted) != 0 {
		t.Errorf("believed: %v", s.Forwarded.Trusted)
	}
	if s, problems := read(map[string]string{"host-ownership": "shared", "host-ownershp": "namespace"}); s.Hosts.ByNamespace() || len(problems) != 1 {
		t.Errorf("the right key is there: by namespace %v, %v", s.Hosts.ByNamespace(), problems)
	}
}

// Another name of what protects has near misses, too.
func TestNearMissesOfOtherNamesDeny(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"allowlist-source-range", "allowlist-source-ranges", "allowlist-source-rang", "allow-list-source-range"} {
		if s, problems := read(map[string]string{key: "10.0.0.0/8"}); !s.Denies() || len(problems) != 1 || !strings.Contains(problems[0], `did you mean "whitelist-source-range"?`) {
			t.Errorf("%s: denies %v, %v", key, s.Denies(), problems)
		}
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	s, _ := read(nil)
	var names []string
	for _, b := range s.Blocks() {
		names = append(names, b.Name)
		if want := (model.ObjectRef{Kind: "ConfigMap", Namespace: "ingress", Name: "controller"}); b.Source != want {
			t.Errorf("%s: source %v", b.Name, b.Source)
		}
	}
	want := []string{"workers", "memory", "hash", "patterns", "log-format-upstream", "log-format-stream", "log", "opentelemetry", "debug-header", "stream", "gzip", "brotli", "geoip", "block-lists", "client", "headers", "global-headers", "forwarded", "listen", "http2", "http3", "tls", "hsts", "client-limits", "proxy", "answers", "redirects", "grpc", "keepalive", "status", "main-snippet", "http-snippet", "servers-snippet", "locations-snippet"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// See hsts-default and hsts-options of the recorded answers of ingress-nginx.
func TestHSTSHeader(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]HSTS{
		"max-age=31536000; includeSubDomains":   {MaxAge: 31536000, IncludeSubdomains: true},
		"max-age=12345; preload":                {MaxAge: 12345, Preload: true},
		"max-age=0":                             {},
		"max-age=1; includeSubDomains; preload": {MaxAge: 1, IncludeSubdomains: true, Preload: true},
	} {
		if got := h.Header(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		words []string
		add   bool
		want  []string
	}{
		{[]string{"error", "timeout"}, false, []string{"error", "timeout"}},
		{[]string{"error", "timeout"}, true, []string{"error", "timeout", "non_idempotent"}},
		{[]string{"non_idempotent", "error"}, true, []string{"non_idempotent", "error"}},
		{[]string{"off"}, true, []string{"off"}},
	} {
		p := Proxy{NextUpstream: test.words, RetryNonIdempotent: test.add}
		if diff := cmp.Diff(test.want, p.Retry()); diff != "" {
			t.Errorf("%v: %s", test.words, diff)
		}
	}
}
