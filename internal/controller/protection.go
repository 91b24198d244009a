package controller

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"sluice/internal/annotations"
	"sluice/internal/quarantine"
	"sluice/internal/snapshot"
)

// protectsMore compares two forms for the quarantine.
func (c *Controller) protectsMore(refused, good quarantine.Form) bool {
	now, ok := refused.(*networkingv1.Ingress)
	was, _ := good.(*networkingv1.Ingress)
	return ok && c.addsProtection(now, was)
}

// addsProtection reports whether the rejected form of an Ingress restricts access more
// than its last good form: by a protection that is new or different, or at further
// paths. Removing a protection does not count.
func (c *Controller) addsProtection(refused, good *networkingv1.Ingress) bool {
	if good == nil {
		return c.protects(refused)
	}
	prefix := c.Translate.AnnotationsPrefix
	for _, key := range closingKeys(prefix) {
		if value, ok := refused.Annotations[key]; ok && value != good.Annotations[key] {
			return true
		}
	}
	if !c.protects(refused) {
		return false
	}
	if !c.protects(good) || claimsMore(refused, good, prefix) {
		return true
	}
	of := c.settingsOf()
	had := protections(annotations.Read(good, of(good), prefix))
	return slices.ContainsFunc(protections(annotations.Read(refused, of(refused), prefix)), func(name string) bool { return !slices.Contains(had, name) })
}

// protections returns the names of the behaviours that protect any path of an Ingress.
func protections(a *annotations.Annotations) []string {
	var names []string
	for each := range a.Each() {
		names = append(names, each.Protects()...)
	}
	return names
}

// claimsMore reports whether a form may receive requests that another form does not
// receive, or has another class, whose settings may protect differently.
func claimsMore(form, other *networkingv1.Ingress, prefix string) bool {
	for _, key := range []string{snapshot.LegacyClass, prefix + "/server-alias", prefix + "/use-regex", prefix + "/rewrite-target", annotations.PathsPrefix + "use-regex", annotations.PathsPrefix + "rewrite-target"} {
		if form.Annotations[key] != other.Annotations[key] {
			return true
		}
	}
	if !equality.Semantic.DeepEqual(form.Spec.IngressClassName, other.Spec.IngressClassName) || form.Spec.DefaultBackend != nil && other.Spec.DefaultBackend == nil {
		return true
	}
	had := pathsOf(other)
	for path := range pathsOf(form) {
		if !had[path] {
			return true
		}
	}
	return false
}

// claimed is a path of a host.
type claimed struct {
	host, path string
	kind       networkingv1.PathType
}

func pathsOf(ing *networkingv1.Ingress) map[claimed]bool {
	paths := map[claimed]bool{}
	for _, rule := range ing.Spec.Rules {
		paths[claimed{host: rule.Host}] = true
		if rule.HTTP == nil {
			continue
		}
		for _, p := range rule.HTTP.Paths {
			var kind networkingv1.PathType
			if p.PathType != nil {
				kind = *p.PathType
			}
			paths[claimed{rule.Host, p.Path, kind}] = true
		}
	}
	return paths
}

// protects reports whether annotations or settings protect the paths of an Ingress.
func (c *Controller) protects(ing *networkingv1.Ingress) bool {
	return annotations.Read(ing, c.settingsOf()(ing), c.Translate.AnnotationsPrefix).GuardsAny() || c.unsettled()
}

// unsettled reports whether the required ConfigMap is missing.
func (c *Controller) unsettled() bool {
	return c.Translate.RequireConfigMap && c.settings.last == nil
}

// closingKeys are the annotations that restrict access to a path.
func closingKeys(prefix string) []string {
	var keys []string
	for _, behaviour := range annotations.All() {
		for _, doc := range behaviour.Keys {
			if !behaviour.Protects && !doc.Closes {
				continue
			}
			for _, name := range doc.Names {
				keys = append(keys, prefix+"/"+name, annotations.PathsPrefix+name)
			}
		}
	}
	return keys
}
