package claim

import (
	"slices"
	"strings"
)

// HostField returns the first field that names a host.
func (o *Owner) HostField(host string) string {
	at := slices.IndexFunc(o.Hosts, func(rules *Rules) bool { return rules.Host == host && rules.Field != "" })
	if at < 0 {
		return DefaultBackendField
	}
	return o.Hosts[at].Field
}

// AppRoot is the target of redirects of "/"; empty for none.
func (o *Owner) AppRoot() string { return o.Annotations.AppRoot.Path }

// AppRootKey is the annotation of AppRoot.
func (o *Owner) AppRootKey() string { return o.PrefixKey + "app-root" }

// AliasKey is the annotation with further names of its hosts.
func (o *Owner) AliasKey() string { return o.PrefixKey + "server-alias" }

// BackendField is the field of the backend, below that of the claim. It is empty for
// spec.defaultBackend, which is a backend itself.
func (c *Claim) BackendField() string {
	if c.Field == DefaultBackendField {
		return ""
	}
	return ".backend"
}

// Consequence adapts the text of a Problem with a backend. A canary without a backend
// costs its main Ingress nothing.
func (o *Owner) Consequence(text string) string {
	if o.Canary {
		return strings.ReplaceAll(text, "503 is answered", "the canary gets no requests")
	}
	return text
}

// CountPatterns counts the patterns among aliases.
func CountPatterns(names []string) int {
	count := 0
	for _, name := range names {
		if strings.HasPrefix(name, "~") {
			count++
		}
	}
	return count
}
