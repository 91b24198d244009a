package webhook

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/admission"
	"sluice/internal/snapshot"
)

// TestReviewOfSettings: one ConfigMap is judged. Others are stored, and so is all while nothing is
// known.
func TestReviewOfSettings(t *testing.T) {
	t.Parallel()
	review := func(name, data, former string) []byte {
		text := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"","version":"v1","kind":"ConfigMap"},"namespace":"sluice","name":"` + name + `","operation":"UPDATE","object":{"metadata":{},"data":` + data + `}`
		if former != "" {
			text += `,"oldObject":{"metadata":{},"data":` + former + `}`
		}
		return []byte(text + `}}`)
	}
	const bad, good = `{"whitelist-source-range":"10.0.0.0/33"}`, `{"whitelist-source-range":"10.0.0.0/8"}`
	basis := basisOf(t, 1)
	basis.Options.Translate.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	known := true
	s, results := serverOf(t, 1, func(o *Options) { o.Basis = func() (admission.Basis, bool) { return basis, known } })
	for name, c := range map[string]struct {
		path     string
		body     []byte
		rejected string
		judged   bool
	}{
		"valid":               {SettingsPath, review("config", good, bad), "", true},
		"no data":             {SettingsPath, review("config", "null", bad), "", true},
		"invalid":             {SettingsPath, review("config", bad, good), "whitelist-source-range: want IP addresses and networks", true},
		"a new one":           {SettingsPath, review("config", bad, ""), "whitelist-source-range: want IP addresses and networks", true},
		"it was there before": {SettingsPath, review("config", `{"whitelist-source-range":"10.0.0.0/33","hsts":"false"}`, bad), "", true},
		"another ConfigMap":   {SettingsPath, review("other", bad, good), "", false},
		"only warned":         {SettingsPath + "/warn", review("config", bad, good), "", true},
	} {
		*results = nil
		a := answerOf(t, post(s, c.path, "application/json", bytes.NewReader(c.body)))
		if a.Allowed != (c.rejected == "") || !a.Allowed && !strings.HasPrefix(a.Result.Message, c.rejected) {
			t.Errorf("%s: %+v", name, a)
		}
		if len(*results) != 1 || (*results)[0].Judged != c.judged {
			t.Errorf("%s: %+v", name, *results)
		}
		if name == "only warned" && (len(a.Warnings) != 1 || !strings.HasPrefix(a.Warnings[0], "would be rejected: whitelist-source-range")) {
			t.Errorf("%s: %v", name, a.Warnings)
		}
	}
	for name, body := range map[string][]byte{"no data": review("config", `"x"`, ""), "no texts": review("config", `{"a":1}`, "")} {
		if got := post(s, SettingsPath, "application/json", bytes.NewReader(body)); got.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
	if known = false; post(s, SettingsPath, "application/json", bytes.NewReader(review("config", bad, ""))).Code != http.StatusServiceUnavailable {
		t.Error("it is judged before all is known")
	}
}
