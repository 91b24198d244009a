package annotations

import (
	"slices"
	"strings"

	"sluice/internal/model"
)

// authenticating are the behaviours that the setting no-auth-locations turns off.
var authenticating = []string{"basic-auth", "external-auth"}

func (b *behaviour) authenticates() bool { return slices.Contains(authenticating, b.Name) }

// isExempt reports whether a path of a rule begins with one of no-auth-locations. As in
// ingress-nginx, the path of the request does not count.
func (r *reader) isExempt(path string) bool {
	return slices.ContainsFunc(r.settings.Auth.NoAuthLocations, func(start string) bool {
		return start != "" && strings.HasPrefix(path, start)
	})
}

// exemptPaths returns the paths of the rules without authentication, if the Ingress
// authenticates.
func (r *reader) exemptPaths(outcomes []outcome) []string {
	asks := func(b *behaviour) bool {
		return b.authenticates() && len(outcomes[slices.Index(behaviours, b)].protects) > 0
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
