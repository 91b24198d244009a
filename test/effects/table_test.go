package effects

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/internal/annotations"
)

// without are annotations that no effect has, with the reason.
var without = map[string]string{
	"match-query":              "match-headers has the same effect, by another part of the request",
	"ssl-redirect":             "force-ssl-redirect has the same redirect, for hosts without a certificate of their own",
	"canary-by-header-pattern": "canary-by-header-value has the same effect, and comes before it",
	"enable-global-auth":       "it takes away global-auth-url, a setting",
	"auth-ssl-secret":          "it needs an auth-url with https://, and proxy-ssl-secret has the same lines",
	"tls-cert-namespace":       "it names the namespace of a certificate, which no request shows",
	"ssl-passthrough":          "connections pass before nginx reads a request",
	"hand-over":                "it is for the webhook",
	"stream-snippet":           "it is outside of HTTP",
}

// TestEveryAnnotationHasAnEffect wants each annotation, of ingress-nginx and of Sluice, in the table
// or among those that have none, and no name that is of neither.
func TestEveryAnnotationHasAnEffect(t *testing.T) {
	t.Parallel()
	used, without := map[string]bool{}, maps.Clone(without)
	for _, e := range All() {
		for _, key := range append(e.Keys(), keysOf(e.Canary)...) {
			used[strings.TrimPrefix(key, annotations.OwnPrefix)] = true
		}
	}
	for _, b := range annotations.All() {
		for _, doc := range b.Keys {
			has := slices.ContainsFunc(doc.Names, func(name string) bool { return used[name] })
			reason := without[doc.Key]
			switch {
			case has && reason != "":
				t.Errorf("%s has an effect: it needs no reason", doc.Key)
			case !has && reason == "":
				t.Errorf("%s of %s has no effect in the table: add one, or the reason why it has none", doc.Key, b.Name)
			}
			delete(without, doc.Key)
		}
	}
	for key := range without {
		t.Errorf("%s is no annotation", key)
	}
}
