package translate

import (
	"fmt"
	"maps"
	"strings"
)

// mostExemptOfNamespace is the maximum number of networks without limits, in different
// lists, of a namespace. nginx needs up to 8 KB for one of IPv6, in the master and in
// each worker.
const mostExemptOfNamespace = 2048

// exempting are the annotations with networks that are not limited.
var exempting = []string{"limit-allowlist", "limit-whitelist"}

// withinExempt counts the networks that an Ingress exempts from its limits. Beyond the
// maximum of the namespace, it returns the Ingress without exemptions. The oldest
// Ingresses count first; Ingresses with the same list share it.
func (t *translation) withinExempt(ing *owner) *owner {
	namespace := ing.Ref.Namespace
	lists := map[string]int{}
	for each := range ing.Annotations.Each() {
		if networks := each.Limits.Exempt; len(networks) > 0 {
			lists[namespace+" "+strings.Join(networks, " ")] = len(networks)
		}
	}
	count := t.exempt[namespace]
	for list, networks := range lists {
		if t.exempt[list] == 0 {
			count += networks
		}
	}
	if count > mostExemptOfNamespace {
		return t.without(ing, exempting, ing.PrefixKey+exempting[0], fmt.Sprintf("want fewer networks: the lists of namespace %s may have %d networks in all, and those of the oldest Ingresses count first: this Ingress exempts none", namespace, mostExemptOfNamespace))
	}
	if len(lists) > 0 {
		maps.Copy(t.exempt, lists)
		t.exempt[namespace] = count
	}
	return ing
}
