package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const diffOld = `apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`

// The exit status is that of diff(1); what decides about the objects is found on each side.
func TestDiffCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old, same := write("old.yaml", diffOld), write("same.yaml", "# The same.\n"+diffOld)
	moved := write("moved.yaml", strings.Replace(diffOld, "name: web, port", "name: cart, port", 1))
	empty, services := write("empty.yaml", "# Nothing.\n"), write("services.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n")
	broken := write("broken.yaml", "kind: Ingress\n")
	deployment := write("deployment.yaml", diffOld+`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: sluice, namespace: edge}
spec: {template: {spec: {containers: [{name: controller, image: sluice, args: [run, --ingress-class=other, --controller-class=example.com/other]}]}}}
`)
	for _, test := range []struct {
		arguments   string
		status      int
		out, errors string
	}{
		{old + " " + same, 0, "nothing changes\n", "old: settings: not known, as no ConfigMap is found"},
		{old + " " + moved, 1, "  > shop.example/  prefix  shop/web:80 -> shop/cart:80  Ingress shop/web\n", "new: settings"},
		{old + " " + moved + " -o json", 1, `"change": "moved"`, ""},
		{old + " " + moved + " -o markdown", 1, "| moved | `shop.example/` prefix |", ""},
		{old + " " + deployment, 1, "  - shop.example/  prefix  shop/web:80  Ingress shop/web\n", "new: flags: --controller-class=example.com/other --ingress-class=other, which Deployment edge/sluice gives"},
		{old + " " + deployment + " --controller-class k8s.io/ingress-nginx --ingress-class nginx", 0, "nothing changes\n", ""},
		{old + " " + empty, 2, "", "new: no Ingress is among the manifests: name others, or allow it with --allow-empty"},
		{services + " " + old, 2, "", "old: no Ingress is among the manifests"},
		{empty + " " + services, 2, "", "old: no Ingress is among the manifests"},
		{empty + " " + services + " --allow-empty", 0, "", ""},
		{old + " " + empty + " --allow-empty", 1, "  - shop.example/  prefix", ""},
		{old + " " + same + " --ingress-class other --controller-class example.com/other", 2, "", "old: no Ingress among the manifests is of a class"},
		{old + " " + broken, 2, "", "new: not read: "},
		{old + " " + folder + "/none", 2, "", "new: "},
		{old, 2, "", "want two folders or files with manifests, OLD and NEW"},
		{old + " " + old, 2, "", "want two different folders or files"},
		{old + " " + moved + " -o html", 2, "", `-o: want text, json or markdown (got "html")`},
		{old + " " + moved + " -f -", 2, "", "-f -: want files that can be read twice"},
	} {
		out, errs, status := command(t, "diff "+test.arguments)
		if status != test.status || !strings.Contains(out, test.out) || !strings.Contains(errs, test.errors) {
			t.Errorf("%s: %d\n%s\n%s", strings.ReplaceAll(test.arguments, folder, ""), status, out, errs)
		}
	}
}

// command runs a command line of sluice.
func command(t *testing.T, line string) (out, errs string, status int) {
	t.Helper()
	var stdout, stderr strings.Builder
	root := root()
	root.SetArgs(strings.Fields(line))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	status = carryOut(root, &stderr)
	return stdout.String(), stderr.String(), status
}
