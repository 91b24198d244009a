package injection

import (
	"bytes"
	"testing"
)

// TestSnippetsOfTheSettingsStayInTheirBlock: no snippet of the settings ends the block that
// it is in, opens one that it does not end, or reaches the socket by which Sluice talks to
// nginx.
func TestSnippetsOfTheSettingsStayInTheirBlock(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	for _, key := range rawSettings {
		for _, value := range []string{
			"} " + marker + " {", "map $a $b { " + marker + " 1;", `"` + marker, marker + " \\", "}", "# " + marker + "\n}", "pass unix:state/run/control.sock; # " + marker,
		} {
			o := w.run(withData(little(t), map[string]string{key: value}))
			if len(o.about("ConfigMap sluice/config", key)) == 0 || bytes.Contains(o.file.Bytes(), []byte(marker)) {
				t.Errorf("%s: %q is in the file, or nobody is told: %v", key, value, o.problems)
			}
		}
	}
}
