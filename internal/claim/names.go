package claim

import (
	"slices"
	"strings"

	"sluice/internal/keys"
)

// Covers reports whether one of the names is the host, or a wildcard for it.
func Covers(names []string, host string) bool {
	_, parent, _ := strings.Cut(host, ".")
	for _, name := range names {
		if strings.EqualFold(name, host) || parent != "" && strings.EqualFold(name, "*."+parent) {
			return true
		}
	}
	return false
}

// Related reports whether two hosts are equal or one is a wildcard above the other.
func Related(a, b string) bool {
	return Covers([]string{a}, b) || Covers([]string{b}, a)
}

// HostDelegation is the annotation by which an Ingress lets other namespaces have paths
// on its hosts. On a Namespace it does so for all hosts that the namespace owns. It
// lists namespaces, separated by commas, or is "*" for all. It has an effect under
// host-ownership: namespace.
const HostDelegation = "sluice.io/host-delegation"

// Delegates reports whether the text of a delegation names a namespace.
func Delegates(text, namespace string) bool {
	return slices.ContainsFunc(Delegatees(text), func(item string) bool { return item == namespace || item == Everybody })
}

// Everybody stands for all namespaces.
const Everybody = "*"

// Delegatees are the namespaces of a delegation, as written.
func Delegatees(text string) []string { return keys.Items(text) }
