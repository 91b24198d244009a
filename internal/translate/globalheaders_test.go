package translate

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// A changed ConfigMap with headers changes the configuration, as a missing one that comes.
func TestGlobalHeadersFollowTheirConfigMap(t *testing.T) {
	t.Parallel()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"}, Data: map[string]string{"add-headers": "sluice/added"}}
	memo, o := NewMemo(), Options{ConfigMap: snapshot.Name{Namespace: "sluice", Name: "config"}}
	added := func(maps ...*corev1.ConfigMap) string {
		s, _ := snapshot.New(snapshot.Objects{ConfigMaps: append(maps, config)})
		c, problems := Config(s, o, memo)
		return fmt.Sprint(answersOf(c.Static.Blocks), len(problems))
	}
	named := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "added"}, Data: map[string]string{"X-One": value}}
	}
	one := named("1")
	for _, step := range []struct {
		maps []*corev1.ConfigMap
		want string
	}{
		{nil, "[] 1"}, {[]*corev1.ConfigMap{one}, "[{X-One 1}] 0"}, {[]*corev1.ConfigMap{one}, "[{X-One 1}] 0"},
		{[]*corev1.ConfigMap{named("2")}, "[{X-One 2}] 0"}, {nil, "[] 1"},
	} {
		if got := added(step.maps...); got != step.want {
			t.Errorf("got %s, want %s", got, step.want)
		}
	}
}

func answersOf(blocks []model.Block) any {
	for _, b := range blocks {
		if g, is := b.Data.(settings.GlobalHeaders); is {
			return g.Answers()
		}
	}
	return nil
}
