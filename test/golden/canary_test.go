package golden

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// A changed weight or header of a canary is pushed, and reloads nothing.
func TestWeightsReloadNothing(t *testing.T) {
	t.Parallel()
	text := string(txtar.Format(readCase(t, "cases/canary.txtar").archive))
	worked := func(old, new string) *outcome {
		changed := strings.Replace(text, old, new, 1)
		if old != new && changed == text {
			t.Fatalf("the case does not say %s", old)
		}
		return workOut(t, &testCase{path: "canary", archive: txtar.Parse([]byte(changed))}, 0)
	}
	before := worked("", "")
	for old, new := range map[string]string{
		`canary-weight: "100"`:         `canary-weight: "7"`,
		`canary-weight: "0"`:           `canary-weight: "7"`,
		`canary-by-header: "X-Canary"`: `canary-by-header: "X-Other"`,
		`canary-by-header-value: "de"`: `canary-by-header-value: "at"`,
		`canary: "true"`:               `canary: "1"`,
		`canary-by-header: "X-Region"`: `canary-weight-total: "500"`,
	} {
		after := worked(old, new)
		if !before.file.Equal(after.file) {
			t.Errorf("%s: nginx.conf is another one", new)
		}
		if same := before.backends() == after.backends(); same != (new == `canary: "1"`) {
			t.Errorf("%s: what is pushed is the same: %t", new, same)
		}
	}
	without := worked(`name: docs,`, `name: other,`)
	if bytes.Equal(before.file.Bytes(), without.file.Bytes()) {
		t.Error("another Service of a canary has the key of the one before")
	}
}
