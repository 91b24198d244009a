package controller

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
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

// valued returns settings with these values.
func valued(data map[string]string) *corev1.ConfigMap {
	cm := settingsOf("")
	cm.Data = data
	return cm
}

// confirm has a worker confirm the latest plan.
func (c *Controller) confirm(t *testing.T) {
	t.Helper()
	c.submitted()
	c.confirmed(t.Context(), outcome{plan: c.latest})
}

// TestMistakesKeepWhatWasConfirmed: the last values that a worker confirmed are in force in place
// of a mistake, also after a restart, and until it is mended. What was read and not confirmed is
// not.
func TestMistakesKeepWhatWasConfirmed(t *testing.T) {
	t.Parallel()
	const key = "block-cidrs"
	c, source := guarded(t, valued(map[string]string{key: "10.0.0.0/8"}), nil)
	c.confirm(t)
	source.say(valued(map[string]string{key: "192.0.2.0/24"}))
	c.sync(t.Context())
	source.say(valued(map[string]string{key: "192.0.2.0/33", "keep-alive": "5"}))
	for range 2 {
		c.sync(t.Context())
		if got := c.latest.configMap.Data; got[key] != "10.0.0.0/8" || got["keep-alive"] != "5" {
			t.Errorf("in force: %v", got)
		}
	}
	if problems := c.settings.problems(); len(problems) != 1 || problems[0].Denies || problems[0].Field != key {
		t.Errorf("problems: %v", problems)
	}
	before := c.latest
	c.confirm(t)
	c.sync(t.Context())
	if c.latest.configMap != before.configMap || c.latest.settings != before.settings {
		t.Error("another pointer is in force, so that all is rendered again")
	}
	again := idle(t, source)
	good, err := openLastGood(c.good.path)
	if err != nil {
		t.Fatal(err)
	}
	again.Translate.ConfigMap, again.good = config, good
	again.sync(t.Context())
	if got := again.latest.configMap.Data; got[key] != "10.0.0.0/8" || got["keep-alive"] != "5" {
		t.Errorf("in force after a restart: %v", got)
	}
	source.say(valued(map[string]string{key: "198.51.100.0/24"}))
	if c.sync(t.Context()); c.latest.configMap.Data[key] != "198.51.100.0/24" || len(c.settings.problems()) > 0 {
		t.Errorf("mended: %v in force, with %v", c.latest.configMap.Data, c.settings.problems())
	}
}

// TestSettingsDeletedBeforeARestart stay in force, because a deletion may not open paths.
func TestSettingsDeletedBeforeARestart(t *testing.T) {
	t.Parallel()
	c, _ := guarded(t, nil, valued(map[string]string{"whitelist-source-range": "10.0.0.0/8"}))
	if c.latest.configMap == nil || c.latest.served.ConfigMap(config) == nil || len(c.settings.problems()) != 1 {
		t.Errorf("in force is %v, with %v", c.latest.configMap, c.settings.problems())
	}
	other := valued(map[string]string{"whitelist-source-range": "10.0.0.0/8"})
	other.Name = "other"
	if c, _ = guarded(t, nil, other); c.latest.configMap != nil {
		t.Errorf("another ConfigMap is in force: %v", c.latest.configMap)
	}
}

// TestNotReadyWhileSettingsClose: a pod that was never ready is not ready while a mistake in the
// settings closes paths, and says which. Once it was ready it stays so, also after a restart.
func TestNotReadyWhileSettingsClose(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"whitelist-source-range": "10.0.0.0/33", "block-cidrs": "10.0.0.0/8; 192.0.2.1", "bind-address": "eth0", "http-snippet": "map $a $b {",
		"whitelist-source-rang": "10.0.0.0/8", "default-annotations": "whitelist-source-range: x",
	} {
		c, source := guarded(t, valued(map[string]string{key: value}), nil)
		c.confirm(t)
		if err := c.Ready(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
		source.say(valued(nil))
		c.sync(t.Context())
		if c.confirm(t); c.Ready() != nil {
			t.Errorf("%s is mended: %v", key, c.Ready())
		}
		source.say(valued(map[string]string{key: value}))
		c.sync(t.Context())
		if c.confirm(t); c.Ready() != nil {
			t.Errorf("%s comes again: %v", key, c.Ready())
		}
		if !wasReadyBefore(c.StateDir) {
			t.Error("a restart does not know that the pod was ready")
		}
	}
}

// TestNotReadyWithoutTheRightToSecrets: a pod that may read no Secret at all is not ready if one of
// them protects. A Secret that it may not read beside others is the matter of its Ingress.
func TestNotReadyWithoutTheRightToSecrets(t *testing.T) {
	t.Parallel()
	for _, others := range []bool{false, true} {
		c, source := guarded(t, valued(nil), nil)
		protected := form("web", "a.example")
		protected.Annotations = map[string]string{"nginx.ingress.kubernetes.io/auth-type": "basic", "nginx.ingress.kubernetes.io/auth-secret": "users"}
		source.Ingresses = []*networkingv1.Ingress{protected}
		source.Forbidden = []model.ObjectRef{{Kind: "Secret", Namespace: "shop", Name: "users"}}
		if others {
			source.Secrets = []*corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}}}
		}
		c.sync(t.Context())
		c.confirm(t)
		if err := c.Ready(); (err == nil) != others {
			t.Errorf("beside others: %t: %v", others, err)
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
