package settings

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// Mistake is an invalid value of a setting, or a key that probably means a setting.
type Mistake struct {
	// Key is the setting, and Problem what is wrong with it.
	Key     string
	Problem model.Problem
	// Closes is the setting whose protection is unknown because of the mistake, "" for none.
	Closes string
	// Lost is set if no other value of the group can stand in for this one.
	Lost bool
}

// Mistakes returns the mistakes in the ConfigMap, in no particular order.
func (s *Settings) Mistakes() []Mistake { return s.source.mistakes }

// mistaken notes a mistake.
func (s *Settings) mistaken(m Mistake) { s.source.mistakes = append(s.source.mistakes, m) }

// Recall returns the settings in force if some values of written are mistakes: each group with a
// mistake has the values that it has in good, which can be nil, unless that is no good group either.
// Nor is it if a setting that protects would not be set, or requests could go further. A protection
// that written newly asks for is in force all the same, and so is the end of a permission for authors
// of Ingresses, or for clients. Recall also returns the Problems of these groups. now and then are the mistakes of
// written and good.
func Recall(written, good *corev1.ConfigMap, now, then []Mistake) (inForce *corev1.ConfigMap, problems []model.Problem) {
	if written == nil || good == nil || len(now) == 0 {
		return written, nil
	}
	inForce = written
	for _, g := range Groups() {
		group := recalled{keys: map[string]keys.Doc{}, written: written, good: good}
		for _, doc := range g.Keys {
			group.keys[doc.Key] = doc
		}
		mistakes := group.of(now)
		group.protecting = newProtections(g, written, good, mistakes)
		group.ended = endedPermissions(g, written, good, mistakes)
		if len(mistakes) == 0 || len(group.of(then)) > 0 || slices.ContainsFunc(mistakes, group.opens) {
			continue
		}
		inForce = group.replace(inForce, mistakes)
		problems = append(problems, group.problems(mistakes)...)
	}
	return inForce, problems
}

// recalled is a group of settings whose last values are to stay in force.
type recalled struct {
	keys          map[string]keys.Doc
	written, good *corev1.ConfigMap
	// protecting are the values of written that protect and are valid, where good has none.
	protecting map[string]string
	// ended are the keys by which written permits less than good: their values in written hold.
	ended []string
}

// newProtections returns the valid values in written of the keys of a group that protect, and
// that are not set or off in good.
func newProtections(g Group, written, good *corev1.ConfigMap, mistakes []Mistake) map[string]string {
	now, then, added := valuesOf(written), valuesOf(good), map[string]string{}
	isOn := func(key string, values map[string]string) bool {
		return Catalog().IsOn(key, func(key string) (string, bool) { text, ok := values[key]; return text, ok })
	}
	for _, doc := range g.Keys {
		wrong := slices.ContainsFunc(mistakes, func(m Mistake) bool { return m.Key == doc.Key })
		if (doc.Protects || doc.Closes) && !wrong && isOn(doc.Key, now) && !isOn(doc.Key, then) {
			added[doc.Key] = now[doc.Key]
		}
	}
	return added
}

// endedPermissions returns the keys of a group, without a mistake in written, by which authors of
// Ingresses, or clients, may do less than with good.
func endedPermissions(g Group, written, good *corev1.ConfigMap, mistakes []Mistake) (ended []string) {
	if !slices.ContainsFunc(g.Keys, func(doc keys.Doc) bool { return doc.Permits }) {
		return nil
	}
	now, _ := Read(written)
	then, _ := Read(good)
	for _, key := range now.stricterThan(then) {
		own := slices.ContainsFunc(g.Keys, func(doc keys.Doc) bool { return doc.Key == key })
		if own && !slices.ContainsFunc(mistakes, func(m Mistake) bool { return m.Key == key }) {
			ended = append(ended, key)
		}
	}
	return ended
}

func (g recalled) has(key string) bool {
	_, has := g.keys[strings.ToLower(key)]
	return has
}

// of returns the mistakes in the group.
func (g recalled) of(mistakes []Mistake) []Mistake {
	return slices.DeleteFunc(slices.Clone(mistakes), func(m Mistake) bool { return !g.has(m.Key) })
}

// opens reports whether the last values lack what a mistake may be meant to protect, or let
// requests go where it may be meant to stop them.
func (g recalled) opens(m Mistake) bool {
	if g.keys[m.Key].Strictly {
		now, _ := Read(g.written)
		then, _ := Read(g.good)
		return slices.Contains(now.stricterThan(then), m.Key)
	}
	return m.Lost || m.Closes != "" && !Catalog().IsOn(m.Closes, func(key string) (string, bool) {
		values := valuesOf(g.good)
		text, ok := values[key]
		return text, ok
	})
}

// replace returns a ConfigMap with the last values of the group, and without the keys that
// probably mean one of it.
func (g recalled) replace(in *corev1.ConfigMap, mistakes []Mistake) *corev1.ConfigMap {
	misspelled := map[string]bool{}
	for _, m := range mistakes {
		misspelled[strings.ToLower(m.Problem.Field)] = true
	}
	replaced := in.DeepCopy()
	maps.DeleteFunc(replaced.Data, func(key, _ string) bool { return g.has(key) || misspelled[strings.ToLower(key)] })
	for key, value := range g.good.Data {
		if g.has(key) && !slices.Contains(g.ended, strings.ToLower(key)) {
			replaced.Data[key] = value
		}
	}
	kept, now := maps.Clone(g.protecting), valuesOf(g.written)
	for _, key := range g.ended {
		if value, given := now[key]; given {
			kept[key] = value
		}
	}
	for key, value := range kept {
		maps.DeleteFunc(replaced.Data, func(other, _ string) bool { return strings.EqualFold(other, key) })
		if replaced.Data == nil {
			replaced.Data = map[string]string{}
		}
		replaced.Data[key] = value
	}
	return replaced
}

// problems returns the Problems of mistakes with the settings that they keep from being in force.
func (g recalled) problems(mistakes []Mistake) []model.Problem {
	now, then := valuesOf(g.written), valuesOf(g.good)
	wrong := map[string]bool{}
	for _, m := range mistakes {
		wrong[m.Key] = true
	}
	var along []string
	for key := range g.keys {
		if _, inForce := g.protecting[key]; now[key] != then[key] && !wrong[key] && !inForce && !slices.Contains(g.ended, key) {
			along = append(along, key)
		}
	}
	text := "the last value that nginx confirmed stays in force"
	if slices.Sort(along); len(along) > 0 {
		text += ", and so do those of the same group: " + strings.Join(along, ", ")
	}
	var problems []model.Problem
	for _, m := range mistakes {
		m.Problem.Text, m.Problem.Denies = model.Add(m.Problem.Text, "; ", text), false
		problems = append(problems, m.Problem)
	}
	return problems
}

// valuesOf returns the values of a ConfigMap by keys in lower case.
func valuesOf(cm *corev1.ConfigMap) map[string]string {
	s := &source{}
	s.take(cm.Data)
	return s.given
}
