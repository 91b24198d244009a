package injection

import (
	"strings"
	"testing"
)

// Parameters of FastCGI backends, from a ConfigMap that an annotation names: the way of
// CVE-2025-15566, with what runs a script at its end.
func TestFastCGIParameters(t *testing.T) {
	t.Parallel()
	a := annotated(t, map[string]string{"backend-protocol": "FCGI", "fastcgi-params-configmap": "default/x;\n" + injected})
	a.closed(t, "fastcgi-params-configmap")
	a.lacks(t, marker)
	for name, value := range map[string]string{
		"A": "a\r\n" + injected, "B": `a\"` + "\n" + injected, "C": "$" + marker, "D": "${" + marker, "E;" + marker: "a", "F\n" + marker: "a", "G if_not_empty": marker, "H": "$document_root" + marker,
	} {
		objects := worldObjects(t)
		for _, m := range objects.ConfigMaps {
			if m.Name == "params" {
				m.Data[name] = value
			}
		}
		o := newWorker(t).run(objects)
		a := attacked{outcome: o, list: o.tree(t)}
		for _, location := range find(serverOf(a.list, "pages.example").body, "location") {
			if argument(location.body, "return") != "503" || len(passing(location.body)) > 0 {
				t.Errorf("%s %q: location %q is open", name, value, location.args)
			}
		}
		a.lacks(t, marker)
	}
}

// The index of FastCGI becomes a part of the script's name: nothing else may be in it.
func TestFastCGIIndex(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"../../etc/passwd", "a b", "a;" + injected, "$" + marker, "a\n" + injected, `a"` + marker, "/" + marker} {
		a := annotated(t, map[string]string{"backend-protocol": "FCGI", "fastcgi-index": value})
		a.lacks(t, marker)
		all(a.list, func(d *directive) {
			if d.name == "fastcgi_index" && strings.Join(d.args, " ") != "index.php" {
				t.Errorf("%q: %s %q", value, d.name, d.args)
			}
		})
	}
}

// A protocol is one of a list; any other text never reaches nginx.
func TestBackendProtocol(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"GRPC;" + injected, "unix:/run/x", "FCGI\n" + injected, "$scheme", "AUTO_HTTP://" + marker} {
		annotated(t, map[string]string{"backend-protocol": value}).lacks(t, marker)
	}
}
