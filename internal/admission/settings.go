package admission

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// HasSettings reports whether a ConfigMap is that with the settings of the controller.
func (b Basis) HasSettings(name snapshot.Name) bool {
	return name == b.Options.Translate.ConfigMap && name != snapshot.Name{}
}

// Settings judges the ConfigMap with the settings of the controller. former is its stored form, nil
// for a new one: a mistake in that already is no reason to reject another change. Only nginx can
// tell what it would refuse of them.
func (b Basis) Settings(object, former *corev1.ConfigMap) Verdict {
	v := Verdict{Ours: true}
	if former != nil && maps.Equal(object.Data, former.Data) {
		return v
	}
	found := b.ofSettings(object)
	suspects := slices.DeleteFunc(slices.Clone(found), func(p model.Problem) bool { return !isReason(p) })
	if len(suspects) > 0 && former != nil {
		suspects = newSince(suspects, nil, b.ofSettings(former), nil)
	}
	v.Rejections = suspects
	for _, p := range found {
		if warned(p, true) && !slices.Contains(suspects, p) {
			v.Warnings = append(v.Warnings, p)
		}
	}
	return v
}

// ofSettings returns the Problems of a ConfigMap with settings, as if there were no Ingress.
func (b Basis) ofSettings(configMap *corev1.ConfigMap) []model.Problem {
	b.Options.Checker, b.Options.Translate.Denied = nil, nil
	_, problems := lint.Judge(b.Snapshot.OnlyIngresses(nil).WithConfigMap(configMap), b.Options, translate.NewMemo())
	object := model.ObjectRef{Kind: "ConfigMap", Namespace: configMap.Namespace, Name: configMap.Name}
	return model.SortProblems(slices.DeleteFunc(problems, func(p model.Problem) bool { return p.Object != object }))
}
