package claim

import (
	"slices"
	"strings"
)

// HostField is the first field by which an owner has a host.
func (i *Owner) HostField(host string) string {
	at := slices.IndexFunc(i.Hosts, func(rules *Rules) bool { return rules.Host == host && rules.Field != "" })
	if at < 0 {
		return DefaultBackendField
	}
	return i.Hosts[at].Field
}

// TLSFor says whether an item of spec.tls is meant for a host.
func (i *Owner) TLSFor(host string) bool {
	return host != "" && slices.ContainsFunc(i.TLS, func(item TLSItem) bool { return Meant(&item, host) })
}

// AppRoot is where / of its hosts is redirected to, empty for nowhere.
func (i *Owner) AppRoot() string { return i.Annotations.AppRoot.Path }

// AppRootKey is the annotation that says so.
func (i *Owner) AppRootKey() string { return i.PrefixKey + "app-root" }

// AliasKey is the annotation that gives further names of its hosts.
func (i *Owner) AliasKey() string { return i.PrefixKey + "server-alias" }

// BackendField is the backend below the claim's field; spec.defaultBackend is
// one itself.
func (c *Claim) BackendField() string {
	if c.Field == DefaultBackendField {
		return ""
	}
	return ".backend"
}

// Consequence gives the text of a Problem with a backend of an owner. A canary without
// a backend costs its main Ingress nothing.
func (i *Owner) Consequence(text string) string {
	if i.Canary {
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
