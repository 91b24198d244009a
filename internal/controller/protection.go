package controller

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"sluice/internal/annotations"
	"sluice/internal/quarantine"
	"sluice/internal/snapshot"
)

// protectsMore is what the quarantine asks of two forms.
func (c *Controller) protectsMore(refused, good quarantine.Form) bool {
	now, ok := refused.(*networkingv1.Ingress)
	was, _ := good.(*networkingv1.Ingress)
	return ok && c.addsProtection(now, was)
}

// addsProtection reports whether the refused form of an Ingress keeps somebody out
// whom its last good form lets in: by a protection that this lacks or says
// differently, or at paths that this does not claim. To take a protection away, or to
// leave all as they were, adds none.
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

// protections are the names of what protects any path of an Ingress.
func protections(a *annotations.Annotations) []string {
	var names []string
	for each := range a.Each() {
		names = append(names, each.Protects()...)
	}
	return names
}

// claimsMore reports whether a form may take requests that another one does not, or
// is of another class, whose settings may protect otherwise.
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

// protects reports whether something protects the paths of an Ingress, be it its
// annotations or the settings.
func (c *Controller) protects(ing *networkingv1.Ingress) bool {
	return annotations.Read(ing, c.settingsOf()(ing), c.Translate.AnnotationsPrefix).GuardsAny() || c.unsettled()
}

// unsettled reports whether the ConfigMap is missing that is required.
func (c *Controller) unsettled() bool {
	return c.Translate.RequireConfigMap && c.settings.last == nil
}

// closingKeys are the annotations without which a path is open that they close.
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
