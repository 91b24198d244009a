package translate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// LastGood returns the settings in force if written has mistakes: the groups with a mistake have
// their values in good, the settings that nginx confirmed last, and a Problem. It returns written
// itself if that changes nothing. good can be nil.
func LastGood(written, good *corev1.ConfigMap, annotationsPrefix string) (inForce *corev1.ConfigMap, problems []model.Problem) {
	if written == nil || good == nil || written == good || written.Namespace != good.Namespace || written.Name != good.Name {
		return written, nil
	}
	now := readWithMistakes(written, annotationsPrefix)
	if len(now.mistakes) == 0 {
		return written, nil
	}
	then := readWithMistakes(good, annotationsPrefix)
	for i := range now.mistakes {
		if m := &now.mistakes[i]; m.Problem.Denies && slices.Contains(settings.LayerKeys(), m.Key) {
			m.Closes, m.Lost = "", !annotations.LayersProtectAs(then.settings, now.settings, annotationsPrefix)
		}
	}
	return settings.Recall(written, good, now.mistakes, then.mistakes)
}

// readSettings are settings with all mistakes in their ConfigMap.
type readSettings struct {
	settings *settings.Settings
	mistakes []settings.Mistake
}

func readWithMistakes(configMap *corev1.ConfigMap, annotationsPrefix string) readSettings {
	values, _ := settings.Read(configMap)
	r := readSettings{settings: values, mistakes: values.Mistakes()}
	for _, p := range globalAuthProblems(values) {
		m := settings.Mistake{Key: p.Field, Problem: p}
		if p.Denies {
			m.Closes = p.Field
		}
		r.mistakes = append(r.mistakes, m)
	}
	for _, p := range annotations.LayerProblems(values, annotationsPrefix) {
		if p.Reason == model.InvalidValue || p.Denies {
			r.mistakes = append(r.mistakes, settings.Mistake{Key: p.Field, Problem: p})
		}
	}
	return r
}
