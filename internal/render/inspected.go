package render

import (
	"sluice/internal/model"
	"sluice/internal/tokens"
)

// inspected is the use of ModSecurity by locations: whether it inspects requests, and
// whether some of them by the OWASP core rule set.
type inspected struct{ requests, coreRules bool }

// DebianCoreRules is the OWASP core rule set of Debian's package, which the image has.
var DebianCoreRules = []string{"/etc/modsecurity/crs/crs-setup.conf", "/usr/share/modsecurity-crs/rules/*.conf"}

// inspect notes that a location of the server uses ModSecurity. It refuses what this nginx
// lacks.
func (s *serverRendering) inspect(data model.Inspecting) error {
	switch {
	case !s.env.Capabilities.ModSecurity:
		return &tokens.Refusal{Want: "no ModSecurity, which this nginx lacks: install libnginx-mod-http-modsecurity", Got: "enable-modsecurity"}
	case data.UsesCoreRules() && len(s.env.CoreRules) == 0:
		return &tokens.Refusal{Want: "no OWASP core rule set, which is not installed: install modsecurity-crs", Got: "enable-owasp-core-rules"}
	}
	s.out.inspected = inspected{true, s.out.inspected.coreRules || data.UsesCoreRules()}
	return nil
}

// coreRules prints the core rule set once for all locations, which share its rules in
// memory, and behind the settings, which may configure it. A location without it removes
// the rules by their ids.
func (r *rendering) coreRules(servers []*rendered) *chunk {
	for _, s := range servers {
		r.inspected.requests = r.inspected.requests || s.inspected.requests
		r.inspected.coreRules = r.inspected.coreRules || s.inspected.coreRules
	}
	if r.inspected.coreRules {
		r.page.from(Origin{Behaviour: "modsecurity"})
		includes := make([]string, len(r.env.CoreRules))
		for i, path := range r.env.CoreRules {
			includes[i] = "Include " + path
		}
		r.must("core-rules", includes, inHTTP...)
	}
	return r.page.cut()
}
