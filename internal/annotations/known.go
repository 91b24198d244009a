package annotations

import (
	"slices"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// known are the annotations of ingress-nginx 1.15 that no behaviour reads, sorted.
var known = slices.DeleteFunc(slices.Clone(ofIngressNginx), func(k keys.Known) bool { return IsRead(k.Key) })

// ofIngressNginx describes annotations of ingress-nginx 1.15 for the time in which no
// behaviour reads them. Afterwards a row has no effect. enable-global-auth does nothing,
// because every path returns 503 with the setting global-auth-url.
var ofIngressNginx = []keys.Known{
	{Key: "affinity-canary-behavior", Needs: "canary"},
	{Key: "auth-cache-duration", Needs: "auth-url"},
	{Key: "auth-cache-key", Needs: "auth-url"},
	{Key: "auth-keepalive", Off: "0", Needs: "auth-url"},
	{Key: "auth-keepalive-requests", Needs: "auth-url"},
	{Key: "auth-keepalive-share-vars", Off: keys.False, Needs: "auth-url"},
	{Key: "auth-keepalive-timeout", Needs: "auth-url"},
	{Key: "auth-snippet", Fate: keys.Denied},
	{Key: "auth-tls-error-page", Needs: "auth-tls-secret"},
	{Key: "auth-tls-match-cn", Fate: keys.Denied},
	{Key: "auth-tls-pass-certificate-to-upstream", Off: keys.False, Needs: "auth-tls-secret"},
	{Key: "auth-tls-secret", Fate: keys.Denied},
	{Key: "auth-tls-verify-client", Fate: keys.Denied, Off: "off"},
	{Key: "auth-tls-verify-depth", Needs: "auth-tls-secret"},
	{Key: "canary-by-header-pattern", Needs: "canary"},
	{Key: "enable-global-auth", Off: "true t 1 " + keys.False},
	{Key: "enable-influxdb", Fate: keys.Idle},
	{Key: "enable-modsecurity", Fate: keys.Denied, Off: keys.False},
	{Key: "enable-opentelemetry", Off: keys.False},
	{Key: "enable-owasp-core-rules", Fate: keys.Denied, Off: keys.False, Needs: "enable-modsecurity"},
	{Key: "fastcgi-index", Needs: "backend-protocol"},
	{Key: "fastcgi-params-configmap", Needs: "backend-protocol"},
	{Key: "http2-push-preload", Off: keys.False},
	{Key: "influxdb-host", Fate: keys.Idle},
	{Key: "influxdb-measurement", Fate: keys.Idle},
	{Key: "influxdb-port", Fate: keys.Idle},
	{Key: "influxdb-server-name", Fate: keys.Idle},
	{Key: "load-balance", Off: "round_robin"},
	{Key: "modsecurity-snippet", Fate: keys.Denied, Needs: "enable-modsecurity"},
	{Key: "modsecurity-transaction-id"},
	{Key: "opentelemetry-operation-name", Needs: "enable-opentelemetry"},
	{Key: "opentelemetry-trust-incoming-span", Needs: "enable-opentelemetry"},
	{Key: "proxy-buffer-size", From: "proxy-buffer-size"},
	{Key: "proxy-buffering", From: "proxy-buffering"},
	{Key: "proxy-buffers-number", From: "proxy-buffers-number"},
	{Key: "proxy-busy-buffers-size"},
	{Key: "proxy-cookie-domain", Off: "off"},
	{Key: "proxy-cookie-path", Off: "off"},
	{Key: "proxy-http-version", Off: "1.1"},
	{Key: "proxy-max-temp-file-size", From: "proxy-max-temp-file-size"},
	{Key: "proxy-redirect-from", Off: "off"},
	{Key: "proxy-redirect-to", Off: "off", Needs: "proxy-redirect-from"},
	{Key: "proxy-request-buffering", From: "proxy-request-buffering"},
	{Key: "proxy-ssl-ciphers", Needs: "proxy-ssl-secret"},
	{Key: "proxy-ssl-protocols", Needs: "proxy-ssl-secret"},
	{Key: "relative-redirects", Off: keys.False},
	{Key: "satisfy", Fate: keys.Denied, Off: "all"},
	{Key: "secure-verify-ca-secret", Fate: keys.Idle},
	{Key: "server-snippet", Fate: keys.Denied},
	{Key: "service-upstream", Off: keys.False},
	{Key: "ssl-ciphers", From: "ssl-ciphers"},
	{Key: "ssl-prefer-server-ciphers", Off: "true t 1"},
	{Key: "stream-snippet"},
	{Key: "upstream-hash-by"},
	{Key: "upstream-hash-by-subset", Off: keys.False, Needs: "upstream-hash-by"},
	{Key: "upstream-hash-by-subset-size", Needs: "upstream-hash-by"},
	{Key: "use-port-in-redirects", From: "use-port-in-redirects"},
}

// Unsupported returns the annotations of ingress-nginx that no behaviour reads, sorted by
// name.
func Unsupported() []keys.Known { return known }

// catalog holds all names of annotations, and other names under which users look for them.
var catalog = keys.NewCatalog(keys.Catalog{
	Noun: "annotation", Rest: "the rest of the Ingress is", Read: docsOf(behaviours), Known: known, Gone: gone, Otherwise: otherwise,
	Elsewhere: settings.Catalog(), Where: "in the ConfigMap of the controller",
})

func docsOf(behaviours []*behaviour) []keys.Doc {
	var docs []keys.Doc
	for _, b := range behaviours {
		docs = append(docs, b.Keys...)
	}
	return docs
}
