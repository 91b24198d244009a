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

// ciphersRefused is what nginx says of a bad cipher.
var ciphersRefused = []refusedGroup{{"tls", "no such cipher"}}

func planWith(cm *corev1.ConfigMap) *plan { return &plan{configMap: cm} }

// inForce gives the value that is served while the ConfigMap holds another.
func inForce(t *testing.T, g *settingsGuard, value string) string {
	t.Helper()
	s, problems := snapshot.New(snapshot.Objects{ConfigMaps: []*corev1.ConfigMap{settingsOf(value)}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return g.substitute(s, config, nil).ConfigMap(config).Data["ssl-ciphers"]
}

func TestRefusedSettingsAreRolledBackUntilTheyChange(t *testing.T) {
	t.Parallel()
	var g settingsGuard
	if !g.refuse(planWith(settingsOf("bad")), settingsOf("good"), ciphersRefused) {
		t.Fatal("nothing was rolled back")
	}
	if got := inForce(t, &g, "bad"); got != "good" {
		t.Errorf("in force: %q, want the good ones", got)
	}
	if len(g.problems()) != 1 {
		t.Errorf("problems: %v", g.problems())
	}
	if got := inForce(t, &g, "mended"); got != "mended" || len(g.problems()) != 0 {
		t.Errorf("in force: %q with problems %v, want the mended ones", got, g.problems())
	}
}

func TestSettingsThatNeverWereGoodGiveWayToTheDefaults(t *testing.T) {
	t.Parallel()
	var g settingsGuard
	if !g.refuse(planWith(settingsOf("bad")), nil, ciphersRefused) {
		t.Fatal("nothing was rolled back")
	}
	if got := inForce(t, &g, "bad"); got != "" {
		t.Errorf("in force: %q, want the defaults", got)
	}
}

func TestSettingsThatAreInForceAreNotBlamedAgain(t *testing.T) {
	t.Parallel()
	var g settingsGuard
	for name, refused := range map[string]bool{
		"no ConfigMap":      g.refuse(planWith(nil), nil, ciphersRefused),
		"good ones":         g.refuse(planWith(settingsOf("good")), settingsOf("good"), []refusedGroup{{text: "text"}}),
		"the defaults only": g.refuse(planWith(settingsOf("")), nil, ciphersRefused),
	} {
		if refused {
			t.Errorf("%s: rolled back to the same", name)
		}
	}
}

// TestRefusedSettingsSettle: nginx refuses a group even as it was good before, and
// an Ingress with the defaults of that group. One after the other falls back, and
// none returns to what was refused already.
func TestRefusedSettingsSettle(t *testing.T) {
	t.Parallel()
	now, good := settingsOf("new"), settingsOf("good")
	now.Data["gzip-level"], good.Data["gzip-level"] = "2", "3"
	g := settingsGuard{}
	tried, refusals := now, 0
	for ; refusals < 20; refusals++ {
		groups := []refusedGroup{{text: "an Ingress"}}
		if tried.Data["ssl-ciphers"] != "" {
			groups = ciphersRefused
		}
		if !g.refuse(planWith(tried), good, groups) {
			break
		}
		tried = g.inForce
	}
	if refusals > 4 || tried.Data["ssl-ciphers"] != "" || tried.Data["gzip-level"] != "3" {
		t.Errorf("after %d refusals %v is in force", refusals, tried.Data)
	}
}
