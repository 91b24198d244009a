package settings

import (
	"sync"

	"sluice/internal/keys"
)

// known are the keys that ingress-nginx 1.15 knows and Sluice does not read, sorted.
// A key leaves this list when a field reads it.
var known = []keys.Known{
	{Key: "app-root", Fate: keys.Idle},
	{Key: "enable-aio-write", Instead: "nginx writes what does not fit its buffers without threads"},
	{Key: "enable-serial-reloads", Instead: "a reload waits until the workers of the last one serve"},
	{Key: "forwarded-for-proxy-protocol-header", Instead: "Sluice passes the address on under a name that no client knows"},
	{Key: "geoip2-autoreload-in-minutes", Instead: "Sluice notices within a moment when a database changes"},
	{Key: "http2-max-field-size", Instead: "large-client-header-buffers limits the headers of HTTP/2 too"},
	{Key: "http2-max-header-size", Instead: "large-client-header-buffers limits the headers of HTTP/2 too"},
	{Key: "http2-max-requests", Instead: "keep-alive-requests limits the requests of a connection of HTTP/2 too"},
	{Key: "jaeger-baggage-header", Fate: keys.Idle},
	{Key: "jaeger-collector-host", Fate: keys.Idle},
	{Key: "jaeger-collector-port", Fate: keys.Idle},
	{Key: "jaeger-debug-header", Fate: keys.Idle},
	{Key: "jaeger-endpoint", Fate: keys.Idle},
	{Key: "jaeger-propagation-format", Fate: keys.Idle},
	{Key: "jaeger-sampler-host", Fate: keys.Idle},
	{Key: "jaeger-sampler-param", Fate: keys.Idle},
	{Key: "jaeger-sampler-port", Fate: keys.Idle},
	{Key: "jaeger-sampler-type", Fate: keys.Idle},
	{Key: "jaeger-service-name", Fate: keys.Idle},
	{Key: "jaeger-trace-baggage-header-prefix", Fate: keys.Idle},
	{Key: "jaeger-trace-context-header-name", Fate: keys.Idle},
	{Key: "opentelemetry-config", Instead: "Sluice itself sends the spans, by the settings otlp-* and otel-*"},
	{Key: "proxy-ssl-location-only", Instead: "the proxy-ssl settings of an Ingress never reach the paths of another one"},
	{Key: "upstream-hash-by", Fate: keys.Idle},
	{Key: "upstream-hash-by-subset", Fate: keys.Idle},
	{Key: "upstream-hash-by-subset-size", Fate: keys.Idle},
	{Key: "use-geoip", Fate: keys.Idle},
}

// Unsupported returns the keys of ingress-nginx that no field reads, sorted by name.
func Unsupported() []keys.Known { return known }

// Catalog holds all names of settings, and the name that the allow list has as an
// annotation.
var Catalog = sync.OnceValue(func() *keys.Catalog {
	return keys.NewCatalog(keys.Catalog{
		Noun: "setting", Rest: "the other settings are", Read: keys.Describe(Settings{}), Known: known,
		Otherwise: map[string]string{"allowlist-source-range": "whitelist-source-range"},
	})
})
