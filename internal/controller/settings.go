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
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// settingsGuard keeps the last content of a deleted ConfigMap, and the last good values of
// groups with mistakes.
type settingsGuard struct {
	// last is the last ConfigMap of the source. missing is set while it is deleted.
	last    *corev1.ConfigMap
	missing bool
	// recalled is last with last good values.
	recalled recalled
}

// recalled is the result of translate.LastGood.
type recalled struct {
	written, good *corev1.ConfigMap
	inForce       *corev1.ConfigMap
	problems      []model.Problem
}

// refusedGroup is a group of settings that nginx rejects, by the name of its block,
// with the reason. Without a name it stands for all settings that may be the cause.
type refusedGroup struct{ block, text string }

// fallenGroup is a group that has its last good values, or its defaults if good is nil.
type fallenGroup struct {
	block string
	good  *corev1.ConfigMap
}

// read returns the settings of the source, the last ones if they were deleted. good are those
// of a former process.
func (g *settingsGuard) read(current, good *corev1.ConfigMap) *corev1.ConfigMap {
	if current == nil && g.last == nil {
		g.last = good
	}
	if g.missing = current == nil && g.last != nil; !g.missing {
		g.last = current
	}
	return g.last
}

// goodSettings returns the settings that nginx confirmed last, nil if they are of another ConfigMap.
func (c *Controller) goodSettings() *corev1.ConfigMap {
	if good := c.good.settings; good != nil && snapshot.NameOf(good) == c.Translate.ConfigMap {
		return good
	}
	return nil
}

// recall replaces groups with mistakes by their values in good, the settings that nginx
// confirmed last.
func (g *settingsGuard) recall(good *corev1.ConfigMap, annotationsPrefix string) *corev1.ConfigMap {
	r := &g.recalled
	if r.written == g.last && r.good == good {
		return r.inForce
	}
	inForce, problems := translate.LastGood(g.last, good, annotationsPrefix)
	if r.inForce != nil && r.written == g.last && sameSettings(r.inForce, inForce) {
		inForce = r.inForce // another pointer would be another form
	}
	g.recalled = recalled{g.last, good, inForce, problems}
	return inForce
}

// settingsInForce replaces the groups in quarantine. read is the ConfigMap of the source.
func (c *Controller) settingsInForce(read, written *corev1.ConfigMap) *corev1.ConfigMap {
	fallen := c.fallenGroups()
	if len(fallen) == 0 && written == read {
		return written
	}
	inForce := fallBack(written, fallen)
	if c.latest != nil && c.latest.configMap != nil && sameSettings(c.latest.configMap, inForce) {
		return c.latest.configMap // another pointer would render all servers again
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

// fallBack replaces the fallen groups. Those that fall back to their defaults come
// last, because nginx rejected even their last good values.
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

// matching returns a function that reports whether a key belongs to a group.
func matching(block string) func(key string) bool {
	keys := settings.BlockKeys(block)
	return func(key string) bool { return block == "" || slices.Contains(keys, key) }
}

func sameSettings(a, b *corev1.ConfigMap) bool {
	return a == b || equality.Semantic.DeepEqual(a.Data, b.Data)
}

// refuseSettings makes groups fall back to the last good settings, or to the defaults
// if nginx rejects those too or there are none. It reports whether that changes
// anything. The groups are tried again when one of the objects in because changes: the
// Ingresses that nginx accepted before and rejects with the new settings, and the
// objects that these name.
func (c *Controller) refuseSettings(p *plan, groups []refusedGroup, because ...quarantine.Subject) (changed bool) {
	if p.settings == nil {
		return false
	}
	for _, group := range groups {
		subject := c.settingsOwner()
		subject.Part = group.block
		to := c.falls(p, subject)
		if to == nil {
			continue
		}
		changed = c.quarantine.Refuse(p.turn, quarantine.Finding{
			Subject: subject, Refused: p.settings, Good: orNone(to.good), Verdict: quarantine.Verdict{Text: group.text},
			Basis: quarantine.Look(p.look).Basis(slices.Concat([]quarantine.Subject{templatesSubject, nginxSubject}, because)...),
		}) || changed
	}
	return changed
}

// fallen returns what a group of a plan falls back to: to what nginx ran last, or else to the
// defaults; nil if neither differs from what is in force.
func (p *plan) fallen(name string) *fallenGroup {
	for _, good := range []*corev1.ConfigMap{p.good, nil} {
		to := fallenGroup{name, good}
		if !sameSettings(fallBack(p.configMap, []fallenGroup{to}), p.configMap) {
			return &to
		}
	}
	return nil
}

// falls returns what a group falls back to after a refusal. Without a name, the groups fall
// back once, together: to the defaults only if nginx never ran any settings.
func (c *Controller) falls(p *plan, group quarantine.Subject) *fallenGroup {
	to := p.fallen(group.Part)
	if to != nil && group.Part == "" && (c.quarantine.Of(group) != nil || to.good == nil && p.good != nil) {
		return nil
	}
	return to
}

// problems returns the Problems of deleted settings, and of mistakes in place of which last
// good values are in force.
func (g *settingsGuard) problems() []model.Problem {
	if !g.missing {
		return g.recalled.problems
	}
	object := model.ObjectRef{Kind: "ConfigMap", Namespace: g.last.Namespace, Name: g.last.Name}
	return append(slices.Clone(g.recalled.problems), model.Problem{Object: object, Reason: model.NotFound, Text: "it was deleted: its last content stays in force until it is back; for the defaults, create it empty"})
}

// settingsProblem tells the owner of the settings which of them are not in force.
func settingsProblem(r *quarantine.Refusal) model.Problem {
	keys := strings.Join(settings.BlockKeys(r.Subject.Part), ", ")
	if r.Subject.Part == "" {
		keys = "all except those that restrict access"
	}
	closes, instead := closesInstead(r), ": the previous ones are in force"
	if closes {
		instead = ", and there are no previous ones"
	}
	return model.Problem{Object: r.Subject.ObjectRef, Reason: model.Refused, Denies: closes,
		Text: "nginx refuses these settings" + instead + " (" + r.Text + "); affected keys: " + keys}
}

// closesInstead reports whether no path is served because of a refused snippet that has no
// previous text.
func closesInstead(r *quarantine.Refusal) bool {
	good, _ := r.Form().(*corev1.ConfigMap)
	written, ok := r.Refused.(*corev1.ConfigMap)
	if good != nil || !ok {
		return false
	}
	instead, _ := settings.Read(settings.FallBack(written, nil, matching(r.Subject.Part)))
	return instead.Denies()
}
