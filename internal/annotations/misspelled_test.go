package annotations

import (
	"maps"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/settings"
)

// What was to protect does not open by a slip in its name or prefix, and the
// Problem says the right one.
func TestNearMissesOfWhatProtectsDeny(t *testing.T) {
	t.Parallel()
	for key, right := range map[string]string{
		prefix + "/whitelist-source-ranges": "whitelist-source-range", prefix + "/Whitelist-Source-Range": "whitelist-source-range",
		prefix + "/whitelist_source_range": "whitelist-source-range", prefix + "/whitelistSourceRange": "whitelist-source-range",
		prefix + "/denylist-sourcerange": "denylist-source-range", prefix + "/proxy-ssl-secrets": "proxy-ssl-secret",
		prefix + "/auth-typ": "auth-type", prefix + "/auth-uri": "auth-url", prefix + "/auth-ulr": "auth-url", prefix + "/server-snippets": "server-snippet",
		prefix + "/limit-connection": "limit-connections", prefix + "/forceSslRedirect": "force-ssl-redirect",
		"nginx.ingress.kubernets.io/whitelist-source-range": prefix + "/whitelist-source-range", "nginx.ingress.kubernetes.com/auth-url": prefix + "/auth-url",
		prefix + ".whitelist-source-range": prefix + "/whitelist-source-range", prefix + "_auth-url": prefix + "/auth-url", prefix + "-auth_url": prefix + "/auth-url",
		"nginx-ingress.kubernetes.io/auth-url": prefix + "/auth-url", "Nginx.Ingress.Kubernetes.io/auth-urls": prefix + "/auth-url",
	} {
		p := readAll(t, prefix, map[string]string{key: "x"})
		if !p.Denied() || len(p.Problems()) != 1 || !strings.Contains(p.Problems()[0].Text, `did you mean "`+right+`"?`) || p.Problems()[0].Field != key || len(p.Protects()) != 1 {
			t.Errorf("%s: denied %v, %q protect, problems %v", key, p.Denied(), p.Protects(), p.Problems())
		}
	}
}

// readAll reads annotations by their whole keys.
func readAll(t *testing.T, prefix string, annotations map[string]string) *Annotations {
	t.Helper()
	s, _ := settings.Read(nil)
	return Read(&networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}, s, prefix)
}

func TestNothingElseIsANearMiss(t *testing.T) {
	t.Parallel()
	harmless := slices.Concat(settingNames(), slices.Collect(maps.Keys(gone)), slices.Collect(maps.Keys(otherwise)), slices.Sorted(maps.Keys(behaviourOf)))
	for _, k := range known {
		harmless = append(harmless, k.Key)
	}
	// Names of other controllers, and what is seen in manifests.
	harmless = append(harmless, "rewrites", "ssl-services", "websocket-services", "proxy-connect-timeouts", "ssl-redirects", "canary-weights", "limit-rates", "auth-realms",
		"use-regexp", "proxy-body-sise", "affinitys", "cors-allow-origins", "auth", "limits", "secret", "allow", "deny", "snippet", "timeout", "lua-resty-waf")
	for _, name := range harmless {
		if closes(name) {
			continue
		}
		for _, at := range []string{prefix, "nginx.ingress.kubernets.io"} {
			if p := readAll(t, prefix, map[string]string{at + "/" + name: "1"}); p.Denied() {
				t.Errorf("%s/%s denies: %v", at, name, p.Problems())
			}
		}
	}
	for _, key := range []string{
		prefix + "/limit_rps=0", prefix + "/auth_type=", prefix + "/enableModsecurity=false", prefix + "/proxySslVerify=false",
		"ingress.kubernetes.io/auth-url=x", "nginx.org/auth-url=x", "traefik.ingress.kubernetes.io/auth-type=basic", "kubernetes.io/auth-url=x", "auth-url=x", "/auth-url=x", prefix + ".example=x", prefix + "auth-url=x",
	} {
		name, value, _ := strings.Cut(key, "=")
		if p := readAll(t, prefix, map[string]string{name: value}); p.Denied() {
			t.Errorf("%s denies: %v", key, p.Problems())
		}
	}
	if p := readAll(t, "b.example", map[string]string{"a.example/auth-url": "x", prefix + "/auth-url": "x"}); p.Denied() || len(p.Problems()) > 0 {
		t.Errorf("annotations of another controller count: %v", p.Problems())
	}
}

// closes is true for a name that is one of what closes, or of a setting that does.
func closes(name string) bool {
	return catalog.Closes(catalog.Meant(name), "x") || settings.Catalog().Closes(name, "x")
}

// settingNames are the keys of the ConfigMap.
func settingNames() []string {
	var names []string
	for _, group := range settings.Groups() {
		for _, doc := range group.Keys {
			names = append(names, doc.Key)
		}
	}
	for _, k := range settings.Unsupported() {
		names = append(names, k.Key)
	}
	return names
}

// An annotation that is looked for under another name is no less meant.
func TestOtherNamesOfWhatProtectsDeny(t *testing.T) {
	t.Parallel()
	for name, right := range map[string]string{
		"basic-auth-secret": "auth-secret", "limit-req-rate": "limit-rps", "rate-limit-rpm": "limit-rpm", "rate-limit-rps": "limit-rps", "redirect-to-https": "force-ssl-redirect",
	} {
		p := readWith(t, nil, map[string]string{name: "1"})
		if want := `no annotation has this name; did you mean "` + right + `"?`; !p.Denied() || len(p.Problems()) != 1 || p.Problems()[0].Text != want {
			t.Errorf("%s: denied %v, %v", name, p.Denied(), p.Problems())
		}
	}
	for _, name := range []string{"rate-limit-rps", "redirect-to-https"} {
		if p := readWith(t, nil, map[string]string{name: "0"}); p.Denied() {
			t.Errorf("%s asks for nothing: %v", name, p.Problems())
		}
	}
}

// All that Sluice's own table of names says exists, or existed.
func TestHintsNameWhatIsRead(t *testing.T) {
	t.Parallel()
	for name, right := range otherwise {
		if !catalog.Has(right) || catalog.Has(name) {
			t.Errorf("%s is said to be %s", name, right)
		}
	}
	for name := range gone {
		if catalog.Has(name) {
			t.Errorf("%s is read", name)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"session-cookie-hash":  "ingress-nginx reads this annotation no more since 0.24.0: remove it",
		"secure-backends":      `ingress-nginx reads this annotation no more since 0.21.0: write backend-protocol: "HTTPS" instead`,
		"worker-processes":     "this is a setting: it counts in the ConfigMap of the controller, and not as an annotation",
		"limit-burst":          `no annotation has this name; did you mean "limit-burst-multiplier"?`,
		"client-max-body-size": `no annotation has this name; did you mean "proxy-body-size"?`,
		"canary-by-weight":     `no annotation has this name; did you mean "canary-weight"?`,
	} {
		p := readWith(t, nil, map[string]string{name: "1"})
		if len(p.Problems()) != 1 || p.Problems()[0].Text != want || p.Denied() {
			t.Errorf("%s: denied %v, %v", name, p.Denied(), p.Problems())
		}
	}
}

// What protects some paths, or all, does not open by a slip in where its key says so.
func TestMisplacedKeysOfWhatProtectsDeny(t *testing.T) {
	t.Parallel()
	const byPath, whole = "sluice.io/paths.allowlist-source-range", prefix + "/allowlist-source-range"
	for key, right := range map[string]string{
		prefix + "/paths.allowlist-source-range": byPath, prefix + "/Paths-allowlist-source-range": byPath, prefix + "/path_allowlist-source-range": byPath,
		prefix + "/sluice.io.paths.allowlist-source-range": byPath, "sluice.io/paths-allowlist-source-range": byPath, "sluice.io/paths_allowlist-source-range": byPath,
		"sluice.io/pathes-allowlist-sourcerange": byPath, "paths.sluice.io/allowlist-source-range": byPath, "paths." + prefix + "/allowlist-source-range": byPath,
		"Sluice.io/paths.allowlist-source-range": byPath, "sluice.io/allowlist-source-range": whole, "sluice.io/allowlist-sourcerange": whole,
		"sluice.io/all.allowlist-source-range": whole, "sluice/allowlist-source-range": whole,
	} {
		p := readAll(t, prefix, map[string]string{key: "/: 10.0.0.0/8"})
		if !p.Denied() || len(p.Problems()) != 1 || !strings.Contains(p.Problems()[0].Text, `did you mean "`+right+`"?`) || p.Problems()[0].Field != key || len(p.Protects()) != 1 {
			t.Errorf("%s: denied %v, %q protect, problems %v", key, p.Denied(), p.Protects(), p.Problems())
		}
	}
	for _, key := range []string{
		"sluice.io/host-delegation", "sluice.io/tls-delegation", "sluice.io/delegation", "sluice.io/owner", "sluice.io/paths-proxy-body-size", "sluice.io/proxy-body-size", prefix + "/paths.proxy-body-size",
		prefix + "/path-regex", "paths.example.com/allowlist-source-range", "example.com/paths.allowlist-source-range", "splice.example/auth-url",
	} {
		if p := readAll(t, prefix, map[string]string{key: "x"}); p.Denied() {
			t.Errorf("%s denies: %v", key, p.Problems())
		}
	}
}

// The prefix of lines for single paths is one of ours, whatever that of annotations is.
func TestPathsPrefixBelowOwnPrefix(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	a := Read(withPaths(map[string]string{"sluice.io/paths.limit-rps": "/a: 5", "sluice.io/limit-rpm": "7"}, "/a"), s, "sluice.io")
	if len(a.Problems()) > 0 || a.At("/a").Limits.PerSecond != 5 || a.Limits.PerMinute != 7 {
		t.Errorf("%+v, %v", a.At("/a").Limits, a.Problems())
	}
}

// A slip in the name of the annotation that makes a canary does not give it all requests.
func TestNearMissesOfCanaryWithhold(t *testing.T) {
	t.Parallel()
	for key, withheld := range map[string]bool{
		prefix + "/Canary=true": true, prefix + "/canarry=true": true, prefix + "/canary-enabled=true": true, prefix + "/enable-canary=true": true, "sluice.io/paths.canary=/a: true": true,
		"sluice.io/canary=true": true, prefix + "/paths.canary=/a: true": true, "nginx.ingress.kubernets.io/canary=true": true,
		prefix + "/Canary=false": false, prefix + "/canarry=": false, prefix + "/canary-weight=5": false, "nginx.org/canary=true": false,
	} {
		name, value, _ := strings.Cut(key, "=")
		p := readAll(t, prefix, map[string]string{name: value})
		if p.Withheld() != withheld || p.Denied() || withheld && len(p.Problems()) != 1 {
			t.Errorf("%s: withheld %v, denied %v, %v", key, p.Withheld(), p.Denied(), p.Problems())
		}
	}
}
