package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/snapshot"
)

var config = snapshot.Name{Namespace: "shop", Name: "config"}

func settingsOf(value string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: config.Namespace, Name: config.Name}}
	if value != "" {
		cm.Data = map[string]string{"ssl-ciphers": value}
	}
	return cm
}

// ciphersRefused is nginx's message about a bad cipher.
var ciphersRefused = []refusedGroup{{"tls", "no such cipher"}}

// guarded returns a controller with settings, and a good form of them.
func guarded(t *testing.T, written, good *corev1.ConfigMap) (*Controller, *objects) {
	t.Helper()
	source := &objects{}
	c := idle(t, source)
	c.Translate.ConfigMap, c.good.settings = config, good
	source.say(written)
	c.sync(t.Context())
	return c, source
}

// say changes the settings of the source, nil for none.
func (o *objects) say(cm *corev1.ConfigMap) {
	if o.ConfigMaps = nil; cm != nil {
		o.ConfigMaps = []*corev1.ConfigMap{cm}
	}
}

// refused makes nginx reject groups of the latest plan, and reports whether others are
// in force then.
func (c *Controller) refused(t *testing.T, groups ...refusedGroup) bool {
	t.Helper()
	before := c.latest.configMap
	changed := c.refuse(outcome{plan: c.latest, settings: groups})
	c.sync(t.Context())
	if changed != (c.latest.configMap != before) {
		t.Errorf("changed: %v; in force were %v, are %v", changed, before, c.latest.configMap)
	}
	return changed
}

// ciphers returns the value in force.
func (c *Controller) ciphers() string { return c.latest.configMap.Data["ssl-ciphers"] }

func TestRefusedSettingsAreRolledBackUntilTheyChange(t *testing.T) {
	t.Parallel()
	c, source := guarded(t, settingsOf("bad"), settingsOf("good"))
	if !c.refused(t, ciphersRefused...) {
		t.Fatal("nothing was rolled back")
	}
	before := c.latest.configMap
	source.say(settingsOf("bad")) // decoded anew
	if c.sync(t.Context()); c.ciphers() != "good" || c.latest.configMap != before {
		t.Errorf("in force: %q, want the good ones, as they were", c.ciphers())
	}
	if len(c.refusals()) != 1 {
		t.Errorf("problems: %v", c.refusals())
	}
	source.say(settingsOf("mended"))
	if c.sync(t.Context()); c.ciphers() != "mended" || len(c.refusals()) != 0 {
		t.Errorf("in force: %q with problems %v, want the mended ones", c.ciphers(), c.refusals())
	}
}

func TestSettingsThatNeverWereGoodGiveWayToTheDefaults(t *testing.T) {
	t.Parallel()
	c, _ := guarded(t, settingsOf("bad"), nil)
	if !c.refused(t, ciphersRefused...) {
		t.Fatal("nothing was rolled back")
	}
	if c.ciphers() != "" {
		t.Errorf("in force: %q, want the defaults", c.ciphers())
	}
}

func TestSettingsThatAreInForceAreNotBlamedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		written, good *corev1.ConfigMap
		groups        []refusedGroup
	}{
		"no ConfigMap":      {nil, nil, ciphersRefused},
		"good ones":         {settingsOf("good"), settingsOf("good"), []refusedGroup{{text: "text"}}},
		"the defaults only": {settingsOf(""), nil, ciphersRefused},
	} {
		if c, _ := guarded(t, test.written, test.good); c.refused(t, test.groups...) {
			t.Errorf("%s: rolled back to the same", name)
		}
	}
}

// TestRefusedSettingsSettle: nginx rejects a group even with its last good values, and
// an Ingress with the defaults of that group. Each falls back in turn, and none returns
// to rejected values.
func TestRefusedSettingsSettle(t *testing.T) {
	t.Parallel()
	now, good := settingsOf("new"), settingsOf("good")
	now.Data["gzip-level"], good.Data["gzip-level"] = "2", "3"
	c, _ := guarded(t, now, good)
	refusals := 0
	for ; refusals < 20; refusals++ {
		groups := []refusedGroup{{text: "an Ingress"}}
		if c.ciphers() != "" {
			groups = ciphersRefused
		}
		if !c.refused(t, groups...) {
			break
		}
	}
	if refusals != 3 || c.ciphers() != "" || c.latest.configMap.Data["gzip-level"] != "3" {
		t.Errorf("after %d refusals %v is in force", refusals, c.latest.configMap.Data)
	}
}
