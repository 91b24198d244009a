package controller

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	settingkeys "sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/test/edges"
)

// settingLines returns a setting of a group that prints lines, and those lines; "" if none does.
func (st *stage) settingLines(t *testing.T, block model.Block) (key, value string, lines []string) {
	t.Helper()
	c, source := st.controller(t, "nobody")
	c.sync(t.Context())
	without := linesIn(c.latest.file)
	for _, doc := range settingkeys.Describe(block.Data) {
		for _, value := range edges.Of(doc) {
			cm := around(t, "nobody").ConfigMaps[0]
			if cm.Data[doc.Key] != "" || doc.Closes || doc.Protects {
				continue
			}
			cm.Data[doc.Key] = value
			source.ConfigMaps = append([]*corev1.ConfigMap{cm}, source.ConfigMaps[1:]...)
			c.sync(t.Context())
			c.submitted()
			for at, found := range sitesOf(c.latest.file, theBad, without) {
				if at.behaviour == block.Name {
					return doc.Key, value, found
				}
			}
		}
	}
	return "", "", nil
}

// TestAnySettingRefused: nginx refuses the lines of a setting, whatever it names, on a new pod and on a
// running one. All Ingresses are served, without this setting.
func TestAnySettingRefused(t *testing.T) {
	t.Parallel()
	st := newStage(t, nil)
	values, _ := settings.Read(nil)
	printing := 0
	for i, block := range values.Blocks() {
		key, value, lines := st.settingLines(t, block)
		if key == "" {
			continue // it prints its lines elsewhere, or only with other settings
		}
		printing++
		for turn := range 2 {
			names, running := namings[(i+turn)%4], turn == 0
			t.Run(fmt.Sprintf("%s, names %s, running %v", block.Name, names, running), func(t *testing.T) {
				t.Parallel()
				c, source := st.controller(t, "auth-signin")
				n := &fake{injected: map[string]bool{}, names: names}
				for _, line := range lines {
					n.injected[line] = true
				}
				if running {
					c.sync(t.Context())
					n.settle(t, c)
				}
				cm := source.ConfigMaps[0].DeepCopy()
				cm.Data[key] = value
				source.ConfigMaps = []*corev1.ConfigMap{cm, source.ConfigMaps[1]}
				c.sync(t.Context())
				n.settle(t, c)
				n.check(t, c)
				refused := 0
				for r := range c.quarantine.All() {
					if is[*corev1.ConfigMap](r.Refused) {
						refused++
					}
				}
				if refused != 1 || n.judge(c.latest.file) != nil {
					t.Errorf("%s: %q: %d groups are refused", key, value, refused)
				}
			})
		}
	}
	if printing < 18 {
		t.Errorf("only %d groups print lines", printing)
	}
}
