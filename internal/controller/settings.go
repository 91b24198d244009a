package controller

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// settingsGuard keeps settings in force that nginx takes. Of a ConfigMap that it
// refuses the groups that it refuses fall back to what was good before, and the
// keys that protect stay. A ConfigMap that is deleted keeps its last content.
type settingsGuard struct {
	// last is the ConfigMap as the source said it last, missing is set while the
	// source has none any more.
	last    *corev1.ConfigMap
	missing bool

	// refused is what nginx does not take as it is, inForce what it gets instead.
	refused, inForce *corev1.ConfigMap
	groups           []refusedGroup
	// templates printed the refused settings; because are the Ingresses that nginx
	// refused with them and took before. If one of these changes, the settings are
	// tried again.
	templates *render.Templates
	because   []*networkingv1.Ingress
}

// refusedGroup is a group of settings that nginx refuses, by the name of its
// block, and why. Without a name it is all that may be the cause.
type refusedGroup struct{ block, text string }

// refuse has groups fall back to good, and those that are refused as they were good,
// or without good ones, to the defaults. It reports whether that changes anything:
// what is not in force is not what nginx refuses now. No group goes back to what was
// refused, so that there is an end of it.
func (g *settingsGuard) refuse(p *plan, good *corev1.ConfigMap, groups []refusedGroup) bool {
	tried := p.configMap
	if tried == nil {
		return false
	}
	if g.refused != nil && g.inForce != tried {
		return false // a plan of before the groups fell back
	}
	was := tried
	if g.refused != nil {
		was = g.refused
	}
	all := slices.Concat(g.groups, groups)
	fallen := fallBack(was, good, all)
	if sameSettings(fallen, tried) { // it was as it was good
		all = slices.Concat(all, groups)
		fallen = fallBack(was, good, all)
	}
	if sameSettings(fallen, tried) {
		return false
	}
	g.refused, g.inForce, g.groups, g.templates = was, fallen, all, p.templates
	return true
}

// fallBack gives the settings without the groups that were refused once as they
// are, and without the good ones of those that were refused again.
func fallBack(was, good *corev1.ConfigMap, refused []refusedGroup) *corev1.ConfigMap {
	seen := map[string]bool{}
	var again []refusedGroup
	for _, group := range refused {
		if seen[group.block] && group.block != "" {
			again = append(again, group)
		}
		seen[group.block] = true
	}
	return settings.FallBack(settings.FallBack(was, good, matching(refused)), nil, matching(again))
}

// matching tells the keys of groups.
func matching(groups []refusedGroup) func(key string) bool {
	var keys []string
	for _, group := range groups {
		if group.block == "" {
			return func(string) bool { return true }
		}
		keys = append(keys, settings.BlockKeys(group.block)...)
	}
	return func(key string) bool { return slices.Contains(keys, key) }
}

func sameSettings(a, b *corev1.ConfigMap) bool {
	return a == b || equality.Semantic.DeepEqual(a.Data, b.Data)
}

// substitute puts the settings in force in the place of missing and of refused
// ones.
func (g *settingsGuard) substitute(snap *snapshot.Snapshot, name snapshot.Name, templates *render.Templates) *snapshot.Snapshot {
	current := snap.ConfigMap(name)
	if g.missing = current == nil && g.last != nil; g.missing {
		current = g.last
		snap = snap.WithConfigMap(current)
	}
	g.last = current
	if g.refused == nil {
		return snap
	}
	if current == nil || !sameSettings(current, g.refused) || templates != g.templates || g.mended(snap) {
		g.refused, g.inForce, g.groups, g.because = nil, nil, nil, nil
		return snap
	}
	return snap.WithConfigMap(g.inForce)
}

// mended reports whether an Ingress changed that made the settings look wrong.
func (g *settingsGuard) mended(snap *snapshot.Snapshot) bool {
	return slices.ContainsFunc(g.because, func(was *networkingv1.Ingress) bool {
		now := snap.Ingress(snapshot.Name{Namespace: was.Namespace, Name: was.Name})
		return now == nil || !sameContent(now, was)
	})
}

func (g *settingsGuard) problems() []model.Problem {
	if g.last == nil {
		return nil
	}
	var problems []model.Problem
	report := func(reason model.Reason, text string) {
		object := model.ObjectRef{Kind: "ConfigMap", Namespace: g.last.Namespace, Name: g.last.Name}
		problems = append(problems, model.Problem{Object: object, Reason: reason, Text: text})
	}
	if g.missing {
		report(model.NotFound, "it was deleted: its last content stays in force until it is back; for the defaults, create it empty")
	}
	for _, group := range g.groups {
		keys := strings.Join(settings.BlockKeys(group.block), ", ")
		if group.block == "" {
			keys = "all but those that keep somebody out"
		}
		report(model.Refused, "nginx refuses these settings: the ones before are in force ("+group.text+"); it is about "+keys)
	}
	return problems
}
