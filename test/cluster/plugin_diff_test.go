package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// manifestOf is an Ingress of the scene as YAML.
func (p *pluginScene) manifestOf(name, host, service, annotations, tls string) string {
	return fmt.Sprintf(`apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: %s
  namespace: %s
  annotations: {%s}
spec:
  ingressClassName: %s
  tls: [%s]
  rules:
  - host: %s
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: %s, port: {number: 80}}}}
---
`, name, p.name, annotations, p.name, tls, host, service)
}

// pluginDiff: what manifests would change is told by the controller, which reads the Secret of
// a new Ingress for it. Nothing is applied. The exit status is that of `kubectl diff`.
func pluginDiff(t *testing.T, p *pluginScene) {
	arguments := []string{"diff", "--namespace", p.system, "-f", "-"}
	next := p.name + "-next.example"
	p.Apply(t, p.TLSSecret(t, p.name, "next", next))
	ask := call{kubeconfig: p.kubeconfig, environment: p.environment}

	ask.stdin = p.manifestOf("next", next, "web", "", fmt.Sprintf("{hosts: [%s], secretName: next}", next)) +
		p.manifestOf("bad", "bad."+p.name+".example", "web", "", "")
	s := ask.run(t, arguments...)
	if s.status != 1 {
		t.Fatalf("status %d: %s", s.status, s.errs)
	}
	for _, text := range []string{
		fmt.Sprintf("  + %s/  prefix  %s/web:80  Ingress %s/next", next, p.name, p.name),
		fmt.Sprintf("bad.%s.example/", p.name), "proxy-connect-timeout", "Service " + p.name + "/gone does not exist",
		"\n  Ingress " + p.name + "/next, " + next + ":\n", "nginx reloads",
	} {
		if !strings.Contains(s.out, text) {
			t.Errorf("it does not say %q:\n%s", text, s.out)
		}
	}

	var told struct {
		Changed      bool
		Notes        []string
		Certificates []struct{ Name string }
	}
	s = ask.run(t, append(arguments, "--output", "json")...)
	if err := json.Unmarshal([]byte(s.out), &told); err != nil || s.status != 1 || !told.Changed || len(told.Notes) > 0 || len(told.Certificates) != 1 {
		t.Errorf("status %d, %v, notes and certificates %+v\n%s", s.status, err, told, s.out)
	}
	if s = ask.run(t, append(arguments, "--output", "markdown")...); s.status != 1 || !strings.Contains(s.out, "```diff\n") {
		t.Errorf("Markdown: status %d\n%s", s.status, s.out)
	}
	if routes := p.must(t, "routes", "--namespace", p.system); strings.Contains(routes, next) {
		t.Errorf("it was applied:\n%s", routes)
	}

	ask.stdin = p.manifestOf("bad", "bad."+p.name+".example", "gone", "nginx.ingress.kubernetes.io/proxy-connect-timeout: soon", "")
	if s := ask.run(t, arguments...); s.status != 0 {
		t.Errorf("the same Ingress: status %d\n%s%s", s.status, s.out, s.errs)
	}
	ask.stdin = "kind: Ingress\napiVersion: networking.k8s.io/v1\nmetadata: {name: [}\n"
	ask.ends(t, 2, arguments, "`sluice debug diff`: manifests:")
}
