package admission

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// identity is what a Problem is about, however the object is ordered.
type identity struct {
	object model.ObjectRef
	reason model.Reason
	// about is the field without indices, and what is there.
	about, text string
}

// index finds the indices of fields in texts.
var index = regexp.MustCompile(`(spec\.(?:rules|tls)|\.(?:paths|hosts))\[(\d+)\]`)

// identities returns the identities of Problems of some Ingresses.
func identities(problems []model.Problem, some []*networkingv1.Ingress) []identity {
	byRef := map[model.ObjectRef]*networkingv1.Ingress{}
	for _, object := range some {
		byRef[snapshot.RefOf(object)] = object
	}
	found := make([]identity, len(problems))
	for i, p := range problems {
		unindexed := func(text string) string { return index.ReplaceAllString(text, "$1[]") }
		found[i] = identity{p.Object, p.Reason, unindexed(p.Field) + "\n" + at(p.Field, byRef[p.Object]), unindexed(p.Text)}
	}
	return found
}

// at returns what an Ingress has at a field.
func at(field string, object *networkingv1.Ingress) string {
	if object == nil {
		return ""
	}
	var of, n int
	switch {
	case scanned(field, "spec.rules[%d].http.paths[%d]", &of, &n):
		return pathAt(object, of, n)
	case scanned(field, "spec.rules[%d]", &of) && of < len(object.Spec.Rules):
		return object.Spec.Rules[of].Host
	case scanned(field, "spec.tls[%d].hosts[%d]", &of, &n) && of < len(object.Spec.TLS) && n < len(object.Spec.TLS[of].Hosts):
		return object.Spec.TLS[of].SecretName + "\n" + object.Spec.TLS[of].Hosts[n]
	case scanned(field, "spec.tls[%d]", &of) && of < len(object.Spec.TLS):
		return object.Spec.TLS[of].SecretName + "\n" + strings.Join(slices.Sorted(slices.Values(object.Spec.TLS[of].Hosts)), "\n")
	}
	return object.Annotations[field]
}

// scanned reports whether a field begins with a format of numbers, which are not negative.
func scanned(field, format string, numbers ...any) bool {
	n, _ := fmt.Sscanf(field, format, numbers...)
	return n == len(numbers)
}

// pathAt returns a path with its host and type.
func pathAt(object *networkingv1.Ingress, rule, n int) string {
	if rule >= len(object.Spec.Rules) || object.Spec.Rules[rule].HTTP == nil || n >= len(object.Spec.Rules[rule].HTTP.Paths) {
		return ""
	}
	path := object.Spec.Rules[rule].HTTP.Paths[n]
	kind := networkingv1.PathType("")
	if path.PathType != nil {
		kind = *path.PathType
	}
	return strings.Join([]string{object.Spec.Rules[rule].Host, path.Path, string(kind)}, "\n")
}

// newSince returns the Problems that were not there before a change.
func newSince(problems []model.Problem, in []*networkingv1.Ingress, before []model.Problem, then []*networkingv1.Ingress) []model.Problem {
	was := map[identity]bool{}
	for _, id := range identities(before, then) {
		was[id] = true
	}
	var found []model.Problem
	for i, id := range identities(problems, in) {
		if !was[id] {
			found = append(found, problems[i])
		}
	}
	return found
}
