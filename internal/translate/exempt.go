package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
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
		return t.withoutExempt(ing)
	}
	if len(lists) > 0 {
		maps.Copy(t.exempt, lists)
		t.exempt[namespace] = count
	}
	return ing
}

// withoutExempt reads an Ingress again without these annotations.
func (t *translation) withoutExempt(ing *owner) *owner {
	if ing.limited == nil {
		ing.limited = t.readWithout(ing, exempting)
		ing.limited.report(ing.PrefixKey+exempting[0], model.NoRoom, fmt.Sprintf("want fewer networks: the lists of namespace %s may have %d networks in all, and those of the oldest Ingresses count first: this Ingress exempts none", ing.Ref.Namespace, mostExemptOfNamespace))
	}
	return ing.limited
}

// readWithout reads an Ingress again without the annotations with some keys.
func (t *translation) readWithout(ing *owner, keys []string) *owner {
	object := ing.object.DeepCopy()
	maps.DeleteFunc(object.Annotations, func(key, _ string) bool {
		path, byPath := strings.CutPrefix(key, annotations.PathsPrefix)
		return byPath && slices.Contains(keys, path) || slices.ContainsFunc(keys, func(of string) bool { return annotations.FieldOf(ing.PrefixKey, of) == key })
	})
	read := t.read(object, ing.Settings, ing.Denial)
	read.tellOf(ing)
	return read
}

// tellOf adds what an Ingress had no room for when it was read before.
func (i *owner) tellOf(before *owner) {
	for _, p := range before.Problems {
		if p.Reason == model.NoRoom && !slices.Contains(i.Problems, p) {
			i.Problems = append(i.Problems, p)
		}
	}
}
