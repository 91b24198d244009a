package admission

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// holders are the Ingresses that have a path of the reviewed one, by the field of the path, and
// by their reference.
type holders struct {
	byField map[string][]*networkingv1.Ingress
	all     map[model.ObjectRef]*networkingv1.Ingress
}

// claimed is a path of a host.
type claimed struct{ host, path, pathType string }

func holdersOf(object *networkingv1.Ingress, beside []*networkingv1.Ingress) holders {
	h := holders{map[string][]*networkingv1.Ingress{}, map[model.ObjectRef]*networkingv1.Ingress{}}
	having := map[claimed][]*networkingv1.Ingress{}
	for _, other := range beside {
		h.all[snapshot.RefOf(other)] = other
		for path := range pathsOf(other) {
			having[path] = append(having[path], other)
		}
	}
	for path, fields := range pathsOf(object) {
		for _, field := range fields {
			h.byField[field] = having[path]
		}
	}
	return h
}

// handedOver reports whether all Ingresses that a Conflict is with let the reviewed one have their
// paths.
func (h holders) handedOver(p model.Problem, object *networkingv1.Ingress) bool {
	with := []*networkingv1.Ingress{h.all[p.Object]}
	if p.Object == snapshot.RefOf(object) {
		with = h.byField[pathField(p.Field)]
	}
	keeps := func(other *networkingv1.Ingress) bool {
		return other == nil || other.Annotations[HandOver] != snapshot.NameOf(object).String()
	}
	return len(with) > 0 && !slices.ContainsFunc(with, keeps)
}

// takesSpareName reports whether a Problem is a Conflict about a name that is a host of the reviewed
// Ingress, and that another one of its namespace has only by an annotation: as an alias, or as the
// redirected name with or without "www.". cert-manager stores such an Ingress for the challenge of
// each name of a certificate.
func (c *Case) takesSpareName(p model.Problem) bool {
	if p.Reason != model.Conflict || p.Object == snapshot.RefOf(c.object) || p.Object.Namespace != c.object.Namespace {
		return false
	}
	prefix := c.basis.Options.Translate.AnnotationsPrefix
	alias, redirect := prefix+"/server-alias", prefix+"/from-to-www-redirect"
	isHost := c.object.Annotations[alias] == "" && c.object.Annotations[redirect] == ""
	return isHost && (p.Field == alias || p.Field == redirect)
}

// pathField cuts a field behind the path that it is of.
func pathField(field string) string {
	at := strings.Index(field, ".paths[")
	if at < 0 {
		return field
	}
	if end := strings.IndexByte(field[at:], ']'); end >= 0 {
		return field[:at+end+1]
	}
	return field
}

// pathsOf returns the paths of an Ingress, each with its fields.
func pathsOf(object *networkingv1.Ingress) map[claimed][]string {
	found := map[claimed][]string{}
	for i, rule := range object.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for j, path := range rule.HTTP.Paths {
			kind := ""
			if path.PathType != nil {
				kind = string(*path.PathType)
			}
			of := claimed{strings.ToLower(rule.Host), path.Path, kind}
			found[of] = append(found[of], fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, j))
		}
	}
	return found
}
