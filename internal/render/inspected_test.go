package render

import (
	"strings"
	"testing"

	"sluice/internal/model"
)

type inspecting struct{ CoreRules bool }

func (i inspecting) UsesCoreRules() bool { return i.CoreRules }

// TestWithoutModSecurity: a location that asks for ModSecurity is closed where nginx lacks
// the module or the core rule set, and the Problem names the package.
func TestWithoutModSecurity(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module, rules, core bool
		want                string
	}{
		"no module":              {false, true, false, "install libnginx-mod-http-modsecurity"},
		"no core rule set":       {true, false, true, "install modsecurity-crs"},
		"no need for core rules": {true, false, false, ""},
		"all":                    {true, true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := Environment{}
			e.Capabilities.ModSecurity = test.module
			if test.rules {
				e.CoreRules = DebianCoreRules
			}
			s := &serverRendering{rendering: &rendering{env: &e}, out: &rendered{}}
			var data model.Inspecting = inspecting{test.core}
			err := s.inspect(data)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if want := (inspected{test.want == "", test.want == "" && test.core}); s.out.inspected != want {
				t.Errorf("%+v, want %+v", s.out.inspected, want)
			}
		})
	}
}
