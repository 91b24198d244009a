package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// attackQuery is one that the core rule set knows.
const attackQuery = "?q=%3Cscript%3Ealert(1)%3C/script%3E"

// hasModSecurity reports whether the nginx of a root has the module.
func hasModSecurity(root string) bool {
	_, err := os.Stat(filepath.Join("/", root, "usr/lib/nginx/modules/ngx_http_modsecurity_module.so"))
	return err == nil
}

// TestModSecurityLog: ModSecurity reports an attack on the standard output, and refuses it
// with SecRuleEngine On. Where the module is missing the paths answer 503, and the Problem
// names the package.
func TestModSecurityLog(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "settings.yaml": allowed,
			"log.yaml":   ingress("log", "shop.example", []string{"/log Prefix web"}, "enable-modsecurity: true", "enable-owasp-core-rules: true"),
			"block.yaml": ingress("block", "shop.example", []string{"/block Prefix web"}, "enable-modsecurity: true", "enable-owasp-core-rules: true", "modsecurity-snippet: SecRuleEngine On"),
			"plain.yaml": ingress("plain", "shop.example", []string{"/plain Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/plain"+attackQuery, "web")
		if !hasModSecurity(root) {
			s.waitLine("install libnginx-mod-http-modsecurity")
			s.waitStatus("http://shop.example/block", 503)
			s.waitStatus("http://shop.example/log", 503)
			return
		}
		s.waitBackend("http://shop.example/block?q=hello", "web")
		s.waitStatus("http://shop.example/block"+attackQuery, 403)
		s.waitBackend("http://shop.example/log"+attackQuery, "web")
		s.waitLine(`"secrules_engine":"DetectionOnly"`)
	})
}

// TestRulesThatModSecurityRefuses: an Ingress with a rule that only ModSecurity can refuse,
// such as an id of the settings, answers 503, and the others go on changing.
func TestRulesThatModSecurityRefuses(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		if !hasModSecurity(root) {
			t.Skip("this nginx has no ModSecurity: see TestModSecurityLog")
		}
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"settings.yaml": settings("allow-snippet-annotations: 'true'", "annotations-risk-level: Critical", `modsecurity-snippet: 'SecRule ARGS:a "@streq evil" "id:7,phase:1,deny"'`),
			"a.yaml":        ingress("a", "shop.example", []string{"/a Prefix web"}, "enable-modsecurity: true", "modsecurity-snippet: SecRuleEngine On"),
			"b.yaml":        ingress("b", "shop.example", []string{"/b Prefix web"}, "enable-modsecurity: true", "modsecurity-snippet: SecRuleEngine On"),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/a", "web")
		s.waitStatus("http://shop.example/a?a=evil", 403)
		for _, test := range []struct{ rule, says string }{
			{`SecRule ARGS:b "@streq x" "id:7,phase:1,deny"`, "Rule id: 7 is duplicated"},
			{`SecRule ARGS:b "@rx (" "id:8,phase:1,deny"`, "the pattern of @rx is not valid: missing )"},
			{`SecRule NO_SUCH_VARIABLE "@rx a" "id:8,phase:1,deny"`, "NO_SUCH_VARIABLE"},
		} {
			s.write("a.yaml", ingress("a", "shop.example", []string{"/a Prefix web"}, "enable-modsecurity: true", "modsecurity-snippet: "+test.rule))
			s.waitStatus("http://shop.example/a", 503)
			s.waitLine(test.says)
			s.write("a.yaml", ingress("a", "shop.example", []string{"/a Prefix web"}, "enable-modsecurity: true", "modsecurity-snippet: SecRuleEngine On"))
			s.waitBackend("http://shop.example/a", "web")
		}
		s.waitStatus("http://shop.example/b?a=evil", 403)
	})
}
