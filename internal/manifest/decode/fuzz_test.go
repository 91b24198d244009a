package decode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// FuzzFromYAML holds that no file makes the loader panic, that every object it
// returns passes the checks, that a second reading gives the same, and that
// errors and notes are one line.
func FuzzFromYAML(f *testing.F) {
	examples, err := filepath.Glob("../../../docs/examples/*/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatalf("no examples found: %v", err)
	}
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, seed := range []string{
		goodIngress, string(shops(1)), "\ufeff---\r\na: b\r\n...\r\n", "%YAML 1.1\n---\n---\nx", "<<: {apiVersion: v1, kind: Namespace}\nmetadata: {name: a}",
		"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: '#'}, stringData: {b: c}}]}",
		`{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"a"},"subsets":[{"addresses":[{"ip":"::1"}],"ports":[{"port":1}]}]}`,
		"a: &a [b]\nc: [*a, *a, !!binary /w==]", "- &x [*x]", "? [a]\n: b", "a: \u2028---\u2028b", "kind: \"a\\nb\"\napiVersion: v1",
		"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: a}, spec: {controller: a/b, parameters: {kind: a, name: b}}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {\"a\\u0085b\": c}, binaryData: {d: AA==}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, notes, err := FromYAML("f.yaml", data)
		recheck(t, objects)
		for _, note := range notes {
			oneLineOnly(t, note.String())
		}
		for _, err := range Errors(err) {
			var decode *snapshot.DecodeError
			if !errors.As(err, &decode) {
				t.Errorf("error is a %T: %v", err, err)
			}
			oneLineOnly(t, err.Error())
		}
		again, _, errAgain := FromYAML("f.yaml", data)
		if strings.Join(namesOf(objects), " ") != strings.Join(namesOf(again), " ") || text(err) != text(errAgain) {
			t.Errorf("a second reading differs: %v, then %v", err, errAgain)
		}
		snapshot.New(objects)
	})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func oneLineOnly(t *testing.T, line string) {
	t.Helper()
	if strings.ContainsFunc(line, unprintable) || !utf8.ValidString(line) || len(line) > 4000 {
		t.Errorf("want one short printable line, got %q", line)
	}
}

// recheck runs the checks again and adds some of its own that share no code
// with them.
func recheck(t *testing.T, o snapshot.Objects) {
	t.Helper()
	var faults []fault
	for _, ing := range o.Ingresses {
		faults = append(faults, append(checkMeta(ing, true), checkIngress(ing)...)...)
		plainIngress(t, ing)
	}
	for _, service := range o.Services {
		faults = append(faults, append(checkMeta(service, true), checkService(service)...)...)
		if service.Spec.Type != corev1.ServiceTypeExternalName && service.Spec.ExternalName == "" && strings.ContainsAny(service.Name, " \n;{}\"'") {
			t.Errorf("a Service is named %q", service.Name)
		}
	}
	for _, slice := range o.EndpointSlices {
		faults = append(faults, append(checkMeta(slice, true), checkEndpointSlice(slice)...)...)
	}
	for _, endpoints := range o.Endpoints {
		faults = append(faults, append(checkMeta(endpoints, true), checkEndpoints(endpoints)...)...)
	}
	for _, secret := range o.Secrets {
		faults = append(faults, append(checkMeta(secret, true), checkSecret(secret)...)...)
	}
	for _, cm := range o.ConfigMaps {
		faults = append(faults, append(checkMeta(cm, true), checkConfigMap(cm)...)...)
	}
	if len(faults) > 0 {
		t.Errorf("an object that fails its checks was returned: %v", faults)
	}
}

// plainIngress looks for what would be dangerous in nginx.conf.
func plainIngress(t *testing.T, ing *networkingv1.Ingress) {
	t.Helper()
	const special = " \t\r\n\x00;{}\"'\\$#/"
	if ing.Name == "" || ing.Namespace == "" || strings.ContainsAny(ing.Name+ing.Namespace, special) {
		t.Errorf("an Ingress is named %q in %q", ing.Name, ing.Namespace)
	}
	for _, rule := range ing.Spec.Rules {
		if strings.ContainsAny(rule.Host, special) || rule.Host != strings.ToLower(rule.Host) {
			t.Errorf("a host is %q", rule.Host)
		}
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			if path.PathType == nil || strings.ContainsAny(path.Path, "\r\n\x00") || path.Path != "" && path.Path[0] != '/' {
				t.Errorf("a path is %q", path.Path)
			}
			if (path.Backend.Service == nil) == (path.Backend.Resource == nil) {
				t.Errorf("a backend has not exactly one of service and resource")
			}
		}
	}
}
