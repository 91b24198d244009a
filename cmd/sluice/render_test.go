package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const manifests = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http: {paths: [{path: /cart, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: other, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: other.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// rendering runs sluice render on the manifests.
func rendering(t *testing.T, arguments ...string) (out, diagnostics string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	command := root()
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	command.SetArgs(append([]string{"render", "-f", file}, arguments...))
	err = command.Execute()
	return stdout.String(), stderr.String(), err
}

func TestRenderSelects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		arguments   []string
		has, hasNot string
	}{
		"all":     {nil, "server_name other.example;", "no such text"},
		"ingress": {[]string{"--ingress", "shop/web"}, `location = "/cart"`, "other.example"},
		"host":    {[]string{"--host", "other.example"}, "server_name other.example;", "shop.example"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, diagnostics, err := rendering(t, test.arguments...)
			if err != nil || !strings.Contains(out, test.has) || strings.Contains(out, test.hasNot) {
				t.Errorf("error %v; want %q and not %q in:\n%s", err, test.has, test.hasNot, out)
			}
			if !strings.Contains(diagnostics, "Service shop/web does not exist") {
				t.Errorf("the problem is not said:\n%s", diagnostics)
			}
		})
	}
}

func TestRenderForScripts(t *testing.T) {
	t.Parallel()
	out, _, err := rendering(t, "-o", "json")
	var read struct {
		Static   struct{ Servers []struct{ Host string } }
		Problems []struct{ Reason string }
	}
	if err != nil || json.Unmarshal([]byte(out), &read) != nil || len(read.Static.Servers) != 3 || len(read.Problems) == 0 {
		t.Errorf("error %v, read %+v from:\n%s", err, read, out)
	}
	out, _, err = rendering(t, "-o", "sourcemap", "--ingress", "shop/web")
	var span struct {
		First, Last int
		Object      struct{ Name string }
	}
	if err != nil || json.Unmarshal([]byte(strings.Split(out, "\n")[0]), &span) != nil || span.Object.Name != "web" || span.First > span.Last {
		t.Errorf("error %v, read %+v from:\n%s", err, span, out)
	}
}

func TestRenderSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, arguments := range map[string][]string{
		`-o: want conf, json or sourcemap (got "xml")`:  {"-o", "xml"},
		`--ingress: want NAMESPACE/NAME (got "web")`:    {"--ingress", "web"},
		`--configmap: want NAMESPACE/NAME (got "conf")`: {"--configmap", "conf"},
		"no line of nginx.conf":                         {"--ingress", "shop/nobody"},
	} {
		if _, _, err := rendering(t, arguments...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", arguments, err, want)
		}
	}
}
