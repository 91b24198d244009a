package annotations

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// annotation is what ingress-nginx says of one.
type annotation struct {
	name, alias, value, from string
	risk                     keys.Risk
}

// ingressNginx holds the annotations of ingress-nginx 1.15.1 that are in force there, read
// here or not.
var ingressNginx = []annotation{
	{"use-regex", "", `false`, "", keys.RiskLow},
	{"rewrite-target", "", ``, "", keys.RiskMedium},
	{"ssl-redirect", "", `true`, "ssl-redirect", keys.RiskLow},
	{"force-ssl-redirect", "", `false`, "force-ssl-redirect", keys.RiskMedium},
	{"preserve-trailing-slash", "", `false`, "preserve-trailing-slash", keys.RiskMedium},
	{"proxy-read-timeout", "", `60`, "proxy-read-timeout", keys.RiskLow},
	{"proxy-connect-timeout", "", `5`, "proxy-connect-timeout", keys.RiskLow},
	{"proxy-send-timeout", "", `60`, "proxy-send-timeout", keys.RiskLow},
	{"proxy-body-size", "", `1m`, "proxy-body-size", keys.RiskMedium},
	{"allowlist-source-range", "whitelist-source-range", ``, "whitelist-source-range", keys.RiskMedium},
	{"enable-cors", "", `false`, "", keys.RiskLow},
	{"cors-allow-credentials", "", `true`, "", keys.RiskLow},
	{"cors-allow-headers", "", `DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization`, "", keys.RiskMedium},
	{"cors-allow-methods", "", `GET, PUT, POST, DELETE, PATCH, OPTIONS`, "", keys.RiskMedium},
	{"cors-allow-origin", "", `*`, "", keys.RiskMedium},
	{"cors-expose-headers", "", ``, "", keys.RiskMedium},
	{"cors-max-age", "", `1728000`, "", keys.RiskLow},
	{"proxy-next-upstream", "", `error timeout`, "proxy-next-upstream", keys.RiskMedium},
	{"proxy-next-upstream-tries", "", `3`, "proxy-next-upstream-tries", keys.RiskLow},
	{"proxy-next-upstream-timeout", "", `0`, "proxy-next-upstream-timeout", keys.RiskLow},
	{"backend-protocol", "", `HTTP`, "", keys.RiskLow},
	{"temporal-redirect", "", ``, "", keys.RiskMedium},
	{"temporal-redirect-code", "", `302`, "", keys.RiskLow},
	{"permanent-redirect", "", ``, "", keys.RiskMedium},
	{"permanent-redirect-code", "", `301`, "", keys.RiskLow},
	{"app-root", "", ``, "", keys.RiskMedium},
	{"server-alias", "", ``, "", keys.RiskHigh},
	{"denylist-source-range", "", ``, "denylist-source-range", keys.RiskMedium},
	{"client-body-buffer-size", "", `8k`, "client-body-buffer-size", keys.RiskLow},
	{"upstream-vhost", "", ``, "", keys.RiskLow},
	{"connection-proxy-header", "", ``, "", keys.RiskLow},
	{"x-forwarded-prefix", "", ``, "", keys.RiskMedium},
	{"proxy-ssl-secret", "", ``, "", keys.RiskMedium},
	{"proxy-ssl-verify", "", `off`, "", keys.RiskLow},
	{"proxy-ssl-name", "", ``, "", keys.RiskHigh},
	{"proxy-ssl-server-name", "", `off`, "", keys.RiskLow},
	{"proxy-ssl-verify-depth", "", `1`, "", keys.RiskLow},
	{"auth-type", "", ``, "", keys.RiskLow},
	{"auth-secret", "", ``, "", keys.RiskMedium},
	{"auth-secret-type", "", `auth-file`, "", keys.RiskLow},
	{"auth-realm", "", ``, "", keys.RiskMedium},
	{"auth-url", "", ``, "global-auth-url", keys.RiskHigh},
	{"auth-method", "", ``, "global-auth-method", keys.RiskLow},
	{"auth-proxy-set-headers", "", ``, "", keys.RiskMedium},
	{"auth-request-redirect", "", ``, "global-auth-request-redirect", keys.RiskMedium},
	{"auth-response-headers", "", ``, "global-auth-response-headers", keys.RiskMedium},
	{"auth-signin", "", ``, "global-auth-signin", keys.RiskHigh},
	{"auth-signin-redirect-param", "", `rd`, "global-auth-signin-redirect-param", keys.RiskMedium},
	{"auth-always-set-cookie", "", `false`, "global-auth-always-set-cookie", keys.RiskLow},
	{"custom-headers", "", ``, "", keys.RiskMedium},
	{"ssl-passthrough", "", `false`, "", keys.RiskLow},
	{"limit-connections", "", `0`, "", keys.RiskLow},
	{"limit-rps", "", `0`, "", keys.RiskLow},
	{"limit-rpm", "", `0`, "", keys.RiskLow},
	{"limit-burst-multiplier", "", `5`, "", keys.RiskLow},
	{"limit-allowlist", "limit-whitelist", ``, "", keys.RiskLow},
	{"limit-rate", "", `0`, "limit-rate", keys.RiskLow},
	{"limit-rate-after", "", `0`, "limit-rate-after", keys.RiskLow},
	{"canary", "", `false`, "", keys.RiskLow},
	{"canary-weight", "", `0`, "", keys.RiskLow},
	{"canary-weight-total", "", `100`, "", keys.RiskLow},
	{"canary-by-header", "", ``, "", keys.RiskMedium},
	{"canary-by-header-value", "", ``, "", keys.RiskMedium},
	{"canary-by-cookie", "", ``, "", keys.RiskMedium},
	{"affinity", "", ``, "", keys.RiskLow},
	{"affinity-mode", "", `balanced`, "", keys.RiskMedium},
	{"session-cookie-name", "", `INGRESSCOOKIE`, "", keys.RiskMedium},
	{"session-cookie-expires", "", ``, "", keys.RiskMedium},
	{"session-cookie-max-age", "", ``, "", keys.RiskMedium},
	{"session-cookie-path", "", ``, "", keys.RiskMedium},
	{"session-cookie-domain", "", ``, "", keys.RiskMedium},
	{"session-cookie-samesite", "", ``, "", keys.RiskLow},
	{"session-cookie-conditional-samesite-none", "", `false`, "", keys.RiskLow},
	{"session-cookie-secure", "", `false`, "", keys.RiskLow},
	{"session-cookie-change-on-failure", "", `false`, "", keys.RiskLow},
	{"mirror-target", "", ``, "", keys.RiskHigh},
	{"mirror-request-body", "", `on`, "", keys.RiskLow},
	{"mirror-host", "", ``, "", keys.RiskHigh},
	{"enable-access-log", "", `true`, "", keys.RiskLow},
	{"enable-rewrite-log", "", `false`, "", keys.RiskLow},
	{"configuration-snippet", "", ``, "", keys.RiskCritical},
	{"affinity-canary-behavior", "", `sticky`, "", keys.RiskLow},
	{"auth-cache-duration", "", `200 202 401 5m`, "global-auth-cache-duration", keys.RiskMedium},
	{"auth-cache-key", "", ``, "global-auth-cache-key", keys.RiskMedium},
	{"auth-keepalive", "", `0`, "", keys.RiskLow},
	{"auth-keepalive-requests", "", `1000`, "", keys.RiskLow},
	{"auth-keepalive-share-vars", "", `false`, "", keys.RiskLow},
	{"auth-keepalive-timeout", "", `60`, "", keys.RiskLow},
	{"auth-snippet", "", ``, "global-auth-snippet", keys.RiskCritical},
	{"auth-tls-error-page", "", ``, "", keys.RiskHigh},
	{"auth-tls-match-cn", "", ``, "", keys.RiskHigh},
	{"auth-tls-pass-certificate-to-upstream", "", `false`, "", keys.RiskLow},
	{"auth-tls-secret", "", ``, "", keys.RiskMedium},
	{"auth-tls-verify-client", "", `on`, "", keys.RiskMedium},
	{"auth-tls-verify-depth", "", `1`, "", keys.RiskLow},
	{"canary-by-header-pattern", "", ``, "", keys.RiskMedium},
	{"custom-http-errors", "", ``, "", keys.RiskLow},
	{"default-backend", "", ``, "", keys.RiskLow},
	{"disable-proxy-intercept-errors", "", `false`, "", keys.RiskLow},
	{"enable-global-auth", "", `true`, "", keys.RiskLow},
	{"enable-modsecurity", "", `false`, "enable-modsecurity", keys.RiskLow},
	{"enable-opentelemetry", "", `false`, "enable-opentelemetry", keys.RiskLow},
	{"enable-owasp-core-rules", "", `false`, "enable-owasp-modsecurity-crs", keys.RiskLow},
	{"fastcgi-index", "", ``, "", keys.RiskMedium},
	{"fastcgi-params-configmap", "", ``, "", keys.RiskMedium},
	{"from-to-www-redirect", "", `false`, "", keys.RiskLow},
	{"http2-push-preload", "", `false`, "", keys.RiskLow},
	{"load-balance", "", `round_robin`, "load-balance", keys.RiskLow},
	{"modsecurity-snippet", "", ``, "modsecurity-snippet", keys.RiskCritical},
	{"modsecurity-transaction-id", "", ``, "", keys.RiskHigh},
	{"opentelemetry-operation-name", "", ``, "", keys.RiskMedium},
	{"opentelemetry-trust-incoming-span", "", `true`, "opentelemetry-trust-incoming-span", keys.RiskLow},
	{"proxy-buffer-size", "", `4k`, "proxy-buffer-size", keys.RiskLow},
	{"proxy-buffering", "", `off`, "proxy-buffering", keys.RiskLow},
	{"proxy-buffers-number", "", `4`, "proxy-buffers-number", keys.RiskLow},
	{"proxy-busy-buffers-size", "", ``, "proxy-busy-buffers-size", keys.RiskLow},
	{"proxy-cookie-domain", "", `off`, "proxy-cookie-domain", keys.RiskMedium},
	{"proxy-cookie-path", "", `off`, "proxy-cookie-path", keys.RiskMedium},
	{"proxy-http-version", "", `1.1`, "proxy-http-version", keys.RiskLow},
	{"proxy-max-temp-file-size", "", `1024m`, "proxy-max-temp-file-size", keys.RiskLow},
	{"proxy-redirect-from", "", `off`, "proxy-redirect-from", keys.RiskMedium},
	{"proxy-redirect-to", "", `off`, "proxy-redirect-to", keys.RiskMedium},
	{"proxy-request-buffering", "", `on`, "proxy-request-buffering", keys.RiskLow},
	{"proxy-ssl-ciphers", "", `DEFAULT`, "", keys.RiskMedium},
	{"proxy-ssl-protocols", "", `TLSv1.2`, "", keys.RiskLow},
	{"relative-redirects", "", `false`, "", keys.RiskLow},
	{"satisfy", "", `all`, "", keys.RiskLow},
	{"server-snippet", "", ``, "", keys.RiskCritical},
	{"service-upstream", "", `false`, "service-upstream", keys.RiskLow},
	{"ssl-ciphers", "", usualCiphers, "ssl-ciphers", keys.RiskLow},
	{"ssl-prefer-server-ciphers", "", ``, "", keys.RiskLow},
	{"stream-snippet", "", ``, "", keys.RiskCritical},
	{"upstream-hash-by", "", ``, "", keys.RiskHigh},
	{"upstream-hash-by-subset", "", `false`, "", keys.RiskLow},
	{"upstream-hash-by-subset-size", "", `3`, "", keys.RiskLow},
	{"use-port-in-redirects", "", `false`, "use-port-in-redirects", keys.RiskLow},
}

// usualCiphers are those of ingress-nginx's ConfigMap.
const usualCiphers = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256"

// ours are the annotations that ingress-nginx does not have. translate.References
// relies on the risk of the first: no setting leaves out what is of the least.
var ours = []annotation{
	{"tls-cert-namespace", "", ``, "", keys.RiskLow},
	{"auth-ssl-secret", "", ``, "", keys.RiskMedium},
	{"max-fails", "", `0`, "", keys.RiskLow},
	{"fail-timeout", "", `10`, "", keys.RiskLow},
	{"health-check-path", "", ``, "", keys.RiskMedium},
	{"health-check-host", "", ``, "", keys.RiskMedium},
	{"health-check-port", "", `0`, "", keys.RiskMedium},
	{"health-check-status", "", `200-399`, "", keys.RiskLow},
	{"health-check-interval", "", `10`, "", keys.RiskLow},
	{"health-check-timeout", "", `2`, "", keys.RiskLow},
	{"health-check-healthy-threshold", "", `2`, "", keys.RiskLow},
	{"health-check-unhealthy-threshold", "", `3`, "", keys.RiskLow},
	{"slow-start", "", `0`, "", keys.RiskLow},
	{"hand-over", "", ``, "", keys.RiskLow},
	{"limit-by", "", `$binary_remote_addr`, "limit-conn-zone-variable", keys.RiskLow},
	{"limit-headers", "", `false`, "", keys.RiskLow},
	{"access-log-format", "", `text`, "access-log-format", keys.RiskLow},
	{"access-log-sampling", "", ``, "access-log-sampling", keys.RiskLow},
	{"limit-dry-run", "", `false`, "", keys.RiskLow},
	{"snippets", "", ``, "", keys.RiskMedium},
	{"deny-paths", "", ``, "", keys.RiskLow},
	{"redirects", "", ``, "", keys.RiskMedium},
	{"match-headers", "", ``, "", keys.RiskMedium},
	{"match-query", "", ``, "", keys.RiskMedium},
	{"fallback-path", "", ``, "", keys.RiskLow},
	{"error-status", "", ``, "", keys.RiskLow},
	{"response-headers", "", ``, "", keys.RiskMedium},
	{"request-headers", "", ``, "", keys.RiskMedium},
	{"sub-filter", "", ``, "", keys.RiskMedium},
	{"cookie-flags", "", ``, "", keys.RiskLow},
	{"expires", "", ``, "", keys.RiskLow},
	{"cache-control", "", ``, "", keys.RiskLow},
}

func TestAnnotationsAreThoseOfIngressNginx(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	listed := slices.Concat(ingressNginx, ours)
	for _, b := range All() {
		for _, doc := range b.Keys {
			at := slices.IndexFunc(listed, func(a annotation) bool { return a.name == doc.Key })
			if at < 0 {
				t.Errorf("%s: ingress-nginx has no such annotation", doc.Key)
				continue
			}
			want := listed[at]
			value := doc.Default
			if text, _ := s.Value(doc.From); text != "" || doc.From != "" && doc.Default == "" {
				value = text
			}
			if value != want.value || doc.From != want.from || doc.Risk != want.risk || strings.Join(doc.Aliases, ",") != want.alias {
				t.Errorf("%s: %q from %q, risk %s, alias %q; ingress-nginx has %+v", doc.Key, value, doc.From, doc.Risk, doc.Aliases, want)
			}
			if doc.Doc == "" {
				t.Errorf("%s: not documented", doc.Key)
			}
		}
	}
	for _, a := range listed {
		if !IsRead(a.name) && !slices.ContainsFunc(known, func(k keys.Known) bool { return k.Key == a.name }) {
			t.Errorf("%s is neither read nor said to be unsupported", a.name)
		}
	}
}

func TestAnnotationsOfIngressNginxAreSorted(t *testing.T) {
	t.Parallel()
	byKey := func(a, b keys.Known) int { return strings.Compare(a.Key, b.Key) }
	same := func(a, b keys.Known) bool { return a.Key == b.Key }
	if !slices.IsSortedFunc(ofIngressNginx, byKey) || len(slices.CompactFunc(slices.Clone(ofIngressNginx), same)) != len(ofIngressNginx) {
		t.Error("the list is not sorted or says a name twice")
	}
}

// What is said to become of an annotation is what Read does.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	for _, k := range Unsupported() {
		for _, value := range append([]string{"x", ""}, k.OffValues()...) {
			off := slices.Contains(k.OffValues(), value)
			p := readWith(t, nil, map[string]string{k.Key: value})
			if p.Denied() != (k.Fate == keys.Denied && !off) || p.Withheld() != (k.Fate == keys.Withheld && !off) || len(p.Problems()) != 1 {
				t.Errorf("%s=%q: denied %v, withheld %v, problems %v, and %+v is told", k.Key, value, p.Denied(), p.Withheld(), p.Problems(), k)
			}
		}
	}
}
