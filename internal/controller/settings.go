package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// settingsGuard rolls settings back that nginx refuses: the ones before go on
// until the ConfigMap is changed.
type settingsGuard struct {
	refused *corev1.ConfigMap
	good    *corev1.ConfigMap
	text    string
}

// refuse rolls back to good, or to the defaults where there is none. It reports
// whether that changes anything: settings that were good before are not what
// nginx refuses now.
func (g *settingsGuard) refuse(current, good *corev1.ConfigMap, text string) bool {
	if current == nil || (good != nil && sameSettings(good, current)) {
		return false
	}
	if good == nil {
		good = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: current.Namespace, Name: current.Name}}
		if sameSettings(good, current) {
			return false
		}
	}
	*g = settingsGuard{refused: current, good: good, text: text}
	return true
}

func sameSettings(a, b *corev1.ConfigMap) bool {
	return equality.Semantic.DeepEqual(a.Data, b.Data)
}

// substitute puts the settings in force in the place of refused ones.
func (g *settingsGuard) substitute(snap *snapshot.Snapshot, name snapshot.Name) *snapshot.Snapshot {
	if g.refused == nil {
		return snap
	}
	current := snap.ConfigMap(name)
	if current == nil || !sameSettings(current, g.refused) {
		*g = settingsGuard{}
		return snap
	}
	return snap.WithConfigMap(g.good)
}

func (g *settingsGuard) problems() []model.Problem {
	if g.refused == nil {
		return nil
	}
	object := model.ObjectRef{Kind: "ConfigMap", Namespace: g.refused.Namespace, Name: g.refused.Name}
	return []model.Problem{{Object: object, Reason: model.Refused, Text: "nginx refuses these settings: the ones before are in force (" + g.text + ")"}}
}
