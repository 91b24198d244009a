package migrate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestFatesOfSettings: only a setting that nothing reads is without effect. A note about one
// in force is told beside it.
func TestFatesOfSettings(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		`global-auth-url: "http://auth.auth.svc/"`: "kept: global-auth-url: Service auth/auth is not among the objects",
		`proxy-ssl-location-only: "true"`:          "without-effect: proxy-ssl-location-only: ",
		`no-such-setting: "1"`:                     "unknown: no-such-setting: ",
		`proxy-body-size: many`:                    "changed: proxy-body-size: ",
	} {
		r := with(t, optionsFor(t), "", setting)
		var out bytes.Buffer
		if err := r.Text(&out); err != nil || !strings.Contains(out.String(), "\n  "+want) {
			t.Errorf("%s: %v, want %q:\n%s", setting, err, want, out.String())
		}
	}
}

// TestUnreadHasItsPlace: what was not read names its file and line, and says what to write.
func TestUnreadHasItsPlace(t *testing.T) {
	t.Parallel()
	const old = "---\napiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: old, namespace: default}\n"
	m := read(t, fmt.Sprintf(around, "", "")+old)
	r := Look(m, optionsFor(t), Setup{})
	if len(r.Input) != 1 || r.Input[0].File == "" || r.Input[0].Remedy != "Write it as networking.k8s.io/v1 (kubectl convert does it)." {
		t.Fatalf("%+v", r.Input)
	}
	var out bytes.Buffer
	if err := r.Text(&out); err != nil || !strings.Contains(out.String(), fmt.Sprintf("Not read:\n  %s:%d: different: ", r.Input[0].File, r.Input[0].Line)) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
