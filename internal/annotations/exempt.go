package annotations

import (
	"slices"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// authenticating are the behaviours that the setting no-auth-locations turns off.
var authenticating = []string{"basic-auth", "external-auth"}

func (b *behaviour) authenticates() bool { return slices.Contains(authenticating, b.Name) }

// isExempt reports whether one of no-auth-locations holds for a path of a rule.
func (r *reader) isExempt(path string) bool {
	target := r.given[rewriteTarget]
	for _, l := range r.byPath.at(path) {
		if l.name == rewriteTarget {
			target = l.value
		}
	}
	return settings.Covers(r.settings.Auth.NoAuthLocations, path, target)
}

// rewriteTarget is the annotation by which a path can lead elsewhere.
const rewriteTarget = "rewrite-target"

// exemptPaths returns the paths of the rules without authentication, if the Ingress
// authenticates.
func (r *reader) exemptPaths(outcomes []outcome) []string {
	asks := func(b *behaviour) bool {
		return b.authenticates() && outcomes[slices.Index(behaviours, b)].protects
	}
	if r.paths == nil || !slices.ContainsFunc(behaviours, asks) {
		return nil
	}
	var paths []string
	for path := range r.paths {
		if r.isExempt(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// exempt reports the annotations for a path without authentication.
func (r *reader) exempt(b *behaviour) {
	for _, doc := range b.Keys {
		if r.fields[doc.Key] != "" {
			r.report(doc.Key, model.NoEffect, "it has no effect, as the setting no-auth-locations has the path", false)
		}
	}
}
