package settings

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/internal/keys"
)

// ingressNginx holds the defaults of ingress-nginx 1.15.1, read out of its
// running configuration. The number of processes is the number of CPUs there,
// which is "auto" in its documentation. The files of its logs are links to what
// is named here.
var ingressNginx = map[string]string{
	"use-forwarded-headers":           `false`,
	"enable-auth-access-log":          `false`,
	"compute-full-forwarded-for":      `false`,
	"forwarded-for-header":            `X-Forwarded-For`,
	"forwarded-host-header":           `X-Forwarded-Host`,
	"proxy-real-ip-cidr":              `0.0.0.0/0`,
	"enable-real-ip":                  `false`,
	"use-proxy-protocol":              `false`,
	"proxy-add-original-uri-header":   `false`,
	"worker-processes":                `auto`,
	"main-snippet":                    ``,
	"enable-brotli":                   `false`,
	"brotli-level":                    `4`,
	"brotli-min-length":               `20`,
	"brotli-types":                    `application/xml+rss application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component`,
	"use-geoip2":                      `false`,
	"http-snippet":                    ``,
	"server-snippet":                  ``,
	"location-snippet":                ``,
	"stream-snippet":                  ``,
	"annotation-value-word-blocklist": ``,
	"allow-cross-namespace-resources": `false`,
	"strict-validate-path-type":       `true`,
	"worker-shutdown-timeout":         `240s`,
	"max-worker-connections":          `16384`,
	"enable-multi-accept":             `true`,
	"keep-alive":                      `75`,
	"keep-alive-requests":             `1000`,
	"client-header-buffer-size":       `1k`,
	"large-client-header-buffers":     `4 8k`,
	"denylist-source-range":           ``,
	"client-body-buffer-size":         `8k`,
	"client-header-timeout":           `60`,
	"client-body-timeout":             `60`,
	"proxy-connect-timeout":           `5`,
	"proxy-send-timeout":              `60`,
	"proxy-read-timeout":              `60`,
	"proxy-body-size":                 `1m`,
	"proxy-buffering":                 `off`,
	"proxy-buffer-size":               `4k`,
	"proxy-buffers-number":            `4`,
	"proxy-request-buffering":         `on`,
	"proxy-max-temp-file-size":        `1024m`,
	"proxy-next-upstream":             `error timeout`,
	"proxy-next-upstream-tries":       `3`,
	"proxy-next-upstream-timeout":     `0`,
	"retry-non-idempotent":            `false`,
	"upstream-keepalive-connections":  `320`,
	"upstream-keepalive-requests":     `10000`,
	"upstream-keepalive-time":         `1h`,
	"upstream-keepalive-timeout":      `60`,
	"ssl-protocols":                   `TLSv1.2 TLSv1.3`,
	"ssl-ciphers":                     `ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256`,
	"ssl-ecdh-curve":                  `auto`,
	"ssl-buffer-size":                 `4k`,
	"ssl-session-cache":               `true`,
	"ssl-session-cache-size":          `10m`,
	"ssl-session-timeout":             `10m`,
	"ssl-session-tickets":             `false`,
	"ssl-reject-handshake":            `false`,
	"ssl-early-data":                  `false`,
	"ssl-dh-param":                    ``,
	"ssl-session-ticket-key":          ``,
	"enable-ocsp":                     `false`,
	"limit-conn-status-code":          `503`,
	"limit-req-status-code":           `503`,
	"limit-rate":                      `0`,
	"limit-rate-after":                `0`,
	"hsts":                            `true`,
	"hsts-max-age":                    `31536000`,
	"hsts-include-subdomains":         `true`,
	"hsts-preload":                    `false`,
	"ssl-redirect":                    `true`,
	"force-ssl-redirect":              `false`,
	"http-redirect-code":              `308`,
	"no-tls-redirect-locations":       `/.well-known/acme-challenge`,
	"preserve-trailing-slash":         `false`,
	"use-port-in-redirects":           `false`,
	"use-http2":                       `true`,
	"http2-max-concurrent-streams":    `128`,
	"use-http3":                       `false`,
	"nginx-status-ipv4-whitelist":     `127.0.0.1`,
	"nginx-status-ipv6-whitelist":     `::1`,
	"http3-advertised-port":           `443`,
	"disable-ipv6":                    `false`,
	"disable-ipv6-dns":                `false`,
	"reuse-port":                      `true`,
	"server-tokens":                   `false`,
	"generate-request-id":             `true`,
	"log-format-upstream":             `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id`,
	"disable-access-log":              `false`,
	"error-log-level":                 `notice`,
	"variables-hash-bucket-size":      `256`,
	"variables-hash-max-size":         `2048`,
	"server-name-hash-bucket-size":    `0`,
	"server-name-hash-max-size":       `1024`,
	"map-hash-bucket-size":            `64`,
	"whitelist-source-range":          ``,
	"annotations-risk-level":          `High`,
	"global-allowed-response-headers": ``,

	"disable-http-access-log":     `false`,
	"access-log-path":             `/dev/stdout`,
	"http-access-log-path":        ``,
	"access-log-params":           ``,
	"skip-access-log-urls":        ``,
	"error-log-path":              `/dev/stderr`,
	"enable-syslog":               `false`,
	"syslog-host":                 ``,
	"syslog-port":                 `514`,
	"log-format-escape-json":      `false`,
	"log-format-escape-none":      `false`,
	"use-gzip":                    `false`,
	"gzip-level":                  `1`,
	"gzip-min-length":             `256`,
	"gzip-types":                  `application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component`,
	"gzip-disable":                ``,
	"max-worker-open-files":       `0`,
	"worker-cpu-affinity":         ``,
	"debug-connections":           ``,
	"ignore-invalid-headers":      `true`,
	"default-type":                `text/html`,
	"bind-address":                ``,
	"add-headers":                 ``,
	"proxy-set-headers":           ``,
	"hide-headers":                ``,
	"allow-backend-server-header": `false`,
	"block-cidrs":                 ``,
	"block-user-agents":           ``,
	"block-referers":              ``,
	"limit-conn-zone-variable":    `$binary_remote_addr`,

	"global-auth-url":                   ``,
	"global-auth-method":                ``,
	"global-auth-request-redirect":      ``,
	"global-auth-response-headers":      ``,
	"global-auth-signin":                ``,
	"global-auth-signin-redirect-param": `rd`,
	"global-auth-always-set-cookie":     `false`,
	"global-auth-cache-key":             ``,
	"global-auth-cache-duration":        ``,
	"global-auth-snippet":               ``,
	"no-auth-locations":                 `/.well-known/acme-challenge`,
	"custom-http-errors":                ``,
	"disable-proxy-intercept-errors":    `false`,

	"log-format-stream":                  `[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time`,
	"disable-stream-access-log":          `false`,
	"stream-access-log-path":             ``,
	"proxy-stream-timeout":               `600s`,
	"proxy-stream-next-upstream":         `true`,
	"proxy-stream-next-upstream-timeout": `600s`,
	"proxy-stream-next-upstream-tries":   `3`,
	"proxy-stream-responses":             `1`,
	"proxy-protocol-header-timeout":      `5s`,

	"proxy-busy-buffers-size": ``,
	"proxy-http-version":      `1.1`,
	"relative-redirects":      `false`,
	"proxy-cookie-domain":     `off`,
	"proxy-cookie-path":       `off`,
	"proxy-redirect-from":     `off`,
	"proxy-redirect-to":       `off`,

	"enable-access-log-for-default-backend": `false`,
	"enable-underscores-in-headers":         `false`,
	"allow-snippet-annotations":             `false`,
	"proxy-headers-hash-bucket-size":        `64`,
	"proxy-headers-hash-max-size":           `512`,
	"grpc-buffer-size-kb":                   `0`,
	"load-balance":                          `round_robin`,
	"service-upstream":                      `false`,
	"enable-modsecurity":                    `false`,
	"enable-opentelemetry":                  `false`,
	"enable-owasp-modsecurity-crs":          `false`,
	"modsecurity-snippet":                   ``,
	"opentelemetry-operation-name":          ``,
	"opentelemetry-trust-incoming-span":     `true`,
	"otel-max-export-batch-size":            `512`,
	"otel-max-queuesize":                    `2048`,
	"otel-sampler":                          `AlwaysOn`,
	"otel-sampler-parent-based":             `true`,
	"otel-sampler-ratio":                    `0.01`,
	"otel-schedule-delay-millis":            `5000`,
	"otel-service-name":                     `nginx`,
	"otlp-collector-host":                   ``,
	"otlp-collector-port":                   `4317`,
}

// ours are the settings that ingress-nginx does not have.
var ours = []string{"access-log-format", "access-log-sampling", "controller-log-level", "debug-header-cidrs", "debug-header-secret", "default-annotations", "fixed-annotations", "global-auth-ca", "global-request-headers", "global-response-headers", "host-ownership", "limit-divide-by-replicas", "max-hosts-per-namespace", "max-paths-per-namespace", "otlp-collector-protocol", "password-hash-max-cost", "pcre-match-limit", "regex-scope", "target-scope", "trailing-slash-redirect"}

// otherwise are those whose default in ingress-nginx is of another kind: it names
// seven dictionaries, of which two have their like here.
var otherwise = []string{"lua-shared-dicts"}

func TestDefaultsAreThoseOfIngressNginx(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, doc := range keys.Describe(Settings{}) {
		want, ok := ingressNginx[doc.Key]
		if !ok {
			if !slices.Contains(ours, doc.Key) && !slices.Contains(otherwise, doc.Key) {
				t.Errorf("%s: ingress-nginx has no such key", doc.Key)
			}
			continue
		}
		seen++
		if doc.Default != want {
			t.Errorf("%s: default %q, ingress-nginx has %q", doc.Key, doc.Default, want)
		}
		if doc.Doc == "" {
			t.Errorf("%s: not documented", doc.Key)
		}
	}
	if seen != len(ingressNginx) {
		t.Errorf("%d keys were compared, want %d", seen, len(ingressNginx))
	}
}

func TestKnownKeysAreSortedAndNotRead(t *testing.T) {
	t.Parallel()
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.Key
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("the list is not sorted or says a key twice")
	}
	for _, doc := range keys.Describe(Settings{}) {
		if slices.Contains(names, doc.Key) {
			t.Errorf("%s is read", doc.Key)
		}
	}
}

// Each setting is in one group, and what is said to become of a key is what
// Read does.
func TestGroupsAndUnsupported(t *testing.T) {
	t.Parallel()
	var grouped []keys.Doc
	for _, g := range Groups() {
		if g.Name == "" || len(g.Keys) == 0 {
			t.Errorf("group %+v", g)
		}
		grouped = append(grouped, g.Keys...)
	}
	if diff := cmp.Diff(keys.Describe(Settings{}), grouped, cmpopts.IgnoreFields(keys.Doc{}, "Field")); diff != "" {
		t.Error(diff)
	}
	for _, k := range Unsupported() {
		for value, denies := range map[string]bool{"x": k.Fate == keys.Denied, "": false, k.OffValues()[len(k.OffValues())-1]: false} {
			if s, problems := read(map[string]string{k.Key: value}); s.Denies() != denies || len(problems) != 1 {
				t.Errorf("%s=%q: denies %v, problems %v, and %+v is told", k.Key, value, s.Denies(), problems, k)
			}
		}
	}
}
