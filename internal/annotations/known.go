package annotations

import (
	"slices"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// known are the annotations of ingress-nginx 1.15 that no behaviour reads, sorted.
var known = slices.DeleteFunc(slices.Clone(ofIngressNginx), func(k keys.Known) bool { return IsRead(k.Key) })

// ofIngressNginx describes annotations of ingress-nginx 1.15 for the time in which no
// behaviour reads them. Afterwards a row has no effect.
var ofIngressNginx = []keys.Known{
	{Key: "auth-keepalive-share-vars", Instead: "requests to the server always have the variables of the request of the client, such as its X-Request-ID"},
	{Key: "enable-influxdb", Fate: keys.Idle},
	{Key: "http2-push-preload", Fate: keys.Idle},
	{Key: "influxdb-host", Fate: keys.Idle},
	{Key: "influxdb-measurement", Fate: keys.Idle},
	{Key: "influxdb-port", Fate: keys.Idle},
	{Key: "influxdb-server-name", Fate: keys.Idle},
	{Key: "secure-verify-ca-secret", Fate: keys.Idle},
}

// Unsupported returns the annotations of ingress-nginx that no behaviour reads, sorted by
// name.
func Unsupported() []keys.Known { return known }

// catalog holds all names of annotations, and other names under which users look for them.
var catalog = keys.NewCatalog(keys.Catalog{
	Noun: "annotation", OwnPrefix: OwnPrefix, Rest: "the rest of the Ingress is", Read: docsOf(behaviours), Known: known, Gone: gone, Otherwise: otherwise,
	Elsewhere: settings.Catalog(), Where: "in the ConfigMap of the controller",
})

func docsOf(behaviours []*behaviour) []keys.Doc {
	var docs []keys.Doc
	for _, b := range behaviours {
		docs = append(docs, b.Keys...)
	}
	return docs
}
