package annotations

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/model"
)

// A value that ingress-nginx takes for nothing closes nothing, protects nothing and
// is no error: it is a note, or a warning where something else may be missing.
func TestOffValuesAskForNothing(t *testing.T) {
	t.Parallel()
	for _, written := range []string{
		"enable-owasp-core-rules=true enable-modsecurity=false", "modsecurity-snippet=SecRuleEngine enable-modsecurity=0", "enable-modsecurity=0", "enable-modsecurity=off", "enable-modsecurity=F",
		"limit-rate=0", "limit-rate-after=0", "limit-rps=0 limit-burst-multiplier=2 limit-whitelist=::1",
		"enable-global-auth=true", "enable-global-auth=false", "proxy-request-buffering=on", "proxy-buffering=off", "proxy-buffer-size=4K", "proxy-buffers-number=4",
		"proxy-redirect-from=off", "proxy-redirect-from=default", "proxy-redirect-to=off", "proxy-redirect-from=off proxy-redirect-to=http://a", "load-balance=round_robin", "use-port-in-redirects=false",
		"canary=false canary-weight=10 canary-by-header=x", "canary=0", "canary-weight=10", "canary-weight-total=200", "affinity-canary-behavior=legacy",
		"auth-tls-verify-depth=2", "auth-tls-error-page=http://a", "auth-realm=x", "auth-secret-type=auth-map", "auth-signin=http://a",
		"mirror-host=a", "mirror-request-body=off", "session-cookie-name=a", "session-cookie-change-on-failure=true", "affinity= session-cookie-path=/",
		"proxy-ssl-protocols=TLSv1.3", "upstream-hash-by-subset=true", "fastcgi-index=index.php",
		"enable-cors=false cors-allow-origin=bad", "enable-cors=no cors-max-age=x", "cors-allow-origin=bad", "temporal-redirect-code=500",
	} {
		p := readWritten(t, written)
		if p.Denied() || p.Withheld() || len(p.Protects()) > 0 || p.Rewrite.LeftOut || p.ServerAlias.LeftOut {
			t.Errorf("%s: denied %v, withheld %v, %q protect, a group is left out", written, p.Denied(), p.Withheld(), p.Protects())
		}
		for _, problem := range p.Problems() {
			if problem.Reason != model.NoEffect && problem.Reason != model.Unread {
				t.Errorf("%s: %s %s", written, problem.Reason, problem)
			}
		}
	}
}

// What asks for something is told, and what protects closes, though something is
// missing beside it: only who says that it is off means it.
func TestWhatAsksIsNotOff(t *testing.T) {
	t.Parallel()
	for written, denied := range map[string]bool{
		"enable-owasp-core-rules=true": true, "enable-owasp-core-rules=true enable-modsecurity=": true, "enable-owasp-core-rules=true enable-modsecurity=yes": true,
		"modsecurity-snippet=SecRuleEngine": true, "enable-modsecurity=1 modsecurity-snippet=SecRuleEngine": true, "enable-modsecurity=on": true, "auth-secret=a": true, "auth-snippet=a": true, "auth-tls-match-cn=a": true,
		"proxy-buffering=yes": false, "proxy-redirect-from=~a proxy-redirect-to=/": false,
		"load-balance=ip_hash": false, "affinity=ip session-cookie-name=a": false, "mirror-target=a mirror-host=a": false, "use-port-in-redirects=2": false, "ssl-ciphers=A;": false,
		"enable-cors=true cors-allow-origin=bad": false, "temporal-redirect=http://a temporal-redirect-code=500": false,
	} {
		p := readWritten(t, written)
		if p.Denied() != denied || (len(p.Protects()) > 0) != denied {
			t.Errorf("%s: denied %v, %q protect", written, p.Denied(), p.Protects())
		}
		if !slices.ContainsFunc(p.Problems(), func(p model.Problem) bool { return p.Reason == model.Unsupported || p.Reason == model.InvalidValue }) {
			t.Errorf("%s: %v", written, p.Problems())
		}
	}
}

// readWritten reads annotations that are written as "name=value name=value".
func readWritten(t *testing.T, written string) *Annotations {
	t.Helper()
	annotations := map[string]string{}
	for _, pair := range strings.Fields(written) {
		name, value, _ := strings.Cut(pair, "=")
		annotations[name] = value
	}
	return readWith(t, nil, annotations)
}

// Who writes a setting that protects as an annotation means to protect.
func TestSettingsThatProtectCloseAsAnnotations(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"block-cidrs":       "this is a setting: it counts in the ConfigMap of the controller, and not as an annotation",
		"block-user-agents": "this is a setting: it counts in the ConfigMap of the controller, and not as an annotation",
		"block-referers":    "this is a setting: it counts in the ConfigMap of the controller, and not as an annotation",
		"global-auth-url":   "this is a setting: it counts in the ConfigMap of the controller, and not as an annotation",
		"location-snippet":  "this is a setting: it counts in the ConfigMap of the controller, and not as an annotation",
		"block-cidr":        `no annotation has this name; did you mean the setting "block-cidrs", which counts in the ConfigMap of the controller?`,
		"blockUserAgents":   `no annotation has this name; did you mean the setting "block-user-agents", which counts in the ConfigMap of the controller?`,
	} {
		p := readWith(t, nil, map[string]string{name: "10.0.0.0/8"})
		if !p.Denied() || len(p.Protects()) != 1 || len(p.Problems()) != 1 || p.Problems()[0].Text != text || !p.Problems()[0].Denies {
			t.Errorf("%s: denied %v, %q protect, %v", name, p.Denied(), p.Protects(), p.Problems())
		}
		if p := readWith(t, nil, map[string]string{name: " "}); p.Denied() || len(p.Protects()) > 0 {
			t.Errorf("%s without a value: %v", name, p.Problems())
		}
	}
	if p := readWith(t, nil, map[string]string{"server-tokens": "false"}); p.Denied() {
		t.Errorf("a setting that protects nothing: %v", p.Problems())
	}
}

// An empty value of what protects asks for nothing, or denies: it never counts as a
// protection that is not in force.
func TestEmptyProtectsNothingOrDenies(t *testing.T) {
	t.Parallel()
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			for _, name := range doc.Names {
				p := readWith(t, nil, map[string]string{name: " "})
				if len(p.Protects()) > 0 && !p.Denied() {
					t.Errorf("%s: %q protect", name, p.Protects())
				}
			}
		}
	}
	p := readWith(t, nil, map[string]string{"allowlist-source-range": "", "whitelist-source-range": "::1"})
	if len(p.Protects()) == 0 || len(p.AllowList.Networks) != 1 {
		t.Errorf("an alias does not count beside an empty key: %v", p.Problems())
	}
}
