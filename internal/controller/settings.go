package controller

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"sluice/internal/model"
	"sluice/internal/quarantine"
	"sluice/internal/settings"
)

// settingsGuard keeps the last content of a ConfigMap that is deleted.
type settingsGuard struct {
	// last is the ConfigMap as the source said it last, missing is set while the
	// source has none any more.
	last    *corev1.ConfigMap
	missing bool
}

// refusedGroup is a group of settings that nginx refuses, by the name of its
// block, and why. Without a name it is all that may be the cause.
type refusedGroup struct{ block, text string }

// fallenGroup is a group that is as it was good, or at its defaults if good is nil.
type fallenGroup struct {
	block string
	good  *corev1.ConfigMap
}

// read gives the settings as the source says them, or said them last.
func (g *settingsGuard) read(current *corev1.ConfigMap) *corev1.ConfigMap {
	if g.missing = current == nil && g.last != nil; !g.missing {
		g.last = current
	}
	return g.last
}

// settingsInForce gives settings without the groups that are in quarantine.
func (c *Controller) settingsInForce(written *corev1.ConfigMap) *corev1.ConfigMap {
	fallen := c.fallenGroups()
	if len(fallen) == 0 {
		return written
	}
	inForce := fallBack(written, fallen)
	if c.latest != nil && c.latest.configMap != nil && sameSettings(c.latest.configMap, inForce) {
		return c.latest.configMap // servers are printed anew for other settings
	}
	return inForce
}

func (c *Controller) fallenGroups() []fallenGroup {
	var fallen []fallenGroup
	for r := range c.quarantine.All() {
		if is[*corev1.ConfigMap](r.Refused) {
			good, _ := r.Form().(*corev1.ConfigMap)
			fallen = append(fallen, fallenGroup{r.Subject.Part, good})
		}
	}
	slices.SortFunc(fallen, func(a, b fallenGroup) int { return cmp.Compare(a.block, b.block) })
	return fallen
}

// fallBack gives settings with the groups that fell: those that go back to their
// defaults last, as nginx refused them even as they were good.
func fallBack(written *corev1.ConfigMap, fallen []fallenGroup) *corev1.ConfigMap {
	for _, toDefaults := range []bool{false, true} {
		for _, group := range fallen {
			if (group.good == nil) == toDefaults {
				written = settings.FallBack(written, group.good, matching(group.block))
			}
		}
	}
	return written
}

// matching tells the keys of a group.
func matching(block string) func(key string) bool {
	keys := settings.BlockKeys(block)
	return func(key string) bool { return block == "" || slices.Contains(keys, key) }
}

func sameSettings(a, b *corev1.ConfigMap) bool {
	return a == b || equality.Semantic.DeepEqual(a.Data, b.Data)
}

// refuseSettings has groups fall back to the last good settings, and those that are
// refused as they were good, or without good ones, to the defaults. It reports whether
// that changes anything. They are tried again when an Ingress changes of because, which
// nginx refused with them and took before.
func (c *Controller) refuseSettings(p *plan, groups []refusedGroup, because ...quarantine.Subject) (changed bool) {
	if p.settings == nil {
		return false
	}
	for _, group := range groups {
		subject := c.settingsOwner()
		subject.Part = group.block
		good, falls := c.goodGroup(p, subject)
		if !falls {
			continue
		}
		changed = c.quarantine.Refuse(p.turn, quarantine.Finding{
			Subject: subject, Refused: p.settings, Good: orNone(good), Verdict: quarantine.Verdict{Text: group.text, Final: true},
			Basis: quarantine.Look(p.look).Basis(slices.Concat([]quarantine.Subject{templatesSubject, nginxSubject}, because)...),
		}) || changed
	}
	return changed
}

// goodGroup gives the settings that a group falls back to, nil for the defaults; false
// if it would stay as it was in a plan. All together fall back once.
func (c *Controller) goodGroup(p *plan, group quarantine.Subject) (good *corev1.ConfigMap, falls bool) {
	was := c.quarantine.Of(group)
	choices := []*corev1.ConfigMap{c.good.settings, nil}
	switch {
	case was != nil && group.Part == "":
		return nil, false
	case was != nil, c.good.settings == nil:
		choices = choices[1:]
	case group.Part == "":
		choices = choices[:1]
	}
	others := slices.DeleteFunc(c.fallenGroups(), func(f fallenGroup) bool { return f.block == group.Part })
	for _, good := range choices {
		if !sameSettings(fallBack(p.settings, append(slices.Clip(others), fallenGroup{group.Part, good})), p.configMap) {
			return good, true
		}
	}
	return nil, false
}

// problems tells of settings that are missing.
func (g *settingsGuard) problems() []model.Problem {
	if !g.missing {
		return nil
	}
	object := model.ObjectRef{Kind: "ConfigMap", Namespace: g.last.Namespace, Name: g.last.Name}
	return []model.Problem{{Object: object, Reason: model.NotFound, Text: "it was deleted: its last content stays in force until it is back; for the defaults, create it empty"}}
}

// settingsProblem tells the owner of the settings which of them are not in force.
func settingsProblem(r *quarantine.Refusal) model.Problem {
	keys := strings.Join(settings.BlockKeys(r.Subject.Part), ", ")
	if r.Subject.Part == "" {
		keys = "all but those that keep somebody out"
	}
	return model.Problem{Object: r.Subject.ObjectRef, Reason: model.Refused,
		Text: "nginx refuses these settings: the ones before are in force (" + r.Text + "); it is about " + keys}
}
