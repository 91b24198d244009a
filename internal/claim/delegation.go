package claim

import (
	"slices"
	"strings"
)

// HostDelegation is the annotation by which an Ingress lets other namespaces have
// paths on its hosts, and a Namespace on all hosts that it owns: the namespaces,
// separated by commas, or "*" for all. It is for host-ownership: namespace.
const HostDelegation = "sluice.io/host-delegation"

// Delegates says whether the text of a delegation names a namespace.
func Delegates(text, namespace string) bool {
	return slices.ContainsFunc(Delegatees(text), func(item string) bool { return item == namespace || item == Everybody })
}

// Everybody stands for all namespaces.
const Everybody = "*"

// Delegatees are the namespaces of a delegation, as written.
func Delegatees(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}
