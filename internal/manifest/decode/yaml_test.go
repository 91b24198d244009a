package decode

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/snapshot"
)

const goodIngress = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
`

// read gives the names of what was read, the notes and the errors.
func read(t *testing.T, text string) (names, notes, faults []string) {
	t.Helper()
	objects, read, err := FromYAML("f.yaml", []byte(text))
	for _, note := range read {
		notes = append(notes, note.String())
	}
	for _, err := range Errors(err) {
		var decode *snapshot.DecodeError
		if !errors.As(err, &decode) {
			t.Errorf("error is a %T: %v", err, err)
		}
		faults = append(faults, err.Error())
	}
	return namesOf(objects), notes, faults
}

func namesOf(o snapshot.Objects) []string {
	var names []string
	names = appendNames(names, "Ingress", o.Ingresses)
	names = appendNames(names, "IngressClass", o.IngressClasses)
	names = appendNames(names, "Service", o.Services)
	names = appendNames(names, "EndpointSlice", o.EndpointSlices)
	names = appendNames(names, "Endpoints", o.Endpoints)
	names = appendNames(names, "Secret", o.Secrets)
	names = appendNames(names, "ConfigMap", o.ConfigMaps)
	return appendNames(names, "Namespace", o.Namespaces)
}

func appendNames[T any, P snapshot.Object[T]](names []string, kind string, objects []P) []string {
	for _, o := range objects {
		names = append(names, kind+" "+snapshot.Name{Namespace: o.GetNamespace(), Name: o.GetName()}.String())
	}
	return names
}

func TestFromYAMLReads(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		in          string
		want, notes []string
	}{
		"every kind": {
			in: goodIngress + `
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1}, addressType: IPv4, endpoints: [{addresses: [10.0.0.1]}], ports: [{port: 80}]}
---
{apiVersion: v1, kind: Endpoints, metadata: {name: web}, subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}]}]}
---
{apiVersion: v1, kind: Secret, metadata: {name: tls}, type: kubernetes.io/tls, data: {tls.crt: aGVsbG8=}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
`,
			want: []string{
				"Ingress shop/web", "IngressClass /nginx", "Service default/web", "EndpointSlice default/web-1",
				"Endpoints default/web", "Secret default/tls", "ConfigMap default/settings", "Namespace /shop",
			},
		},
		"JSON": {
			in:   `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}`,
			want: []string{"Namespace /a"},
		},
		"status and managed fields": {
			in: strings.Replace(goodIngress, "namespace: shop", "namespace: shop, uid: abc, resourceVersion: '5', generation: 2, managedFields: [{manager: kubectl, operation: Apply, fieldsV1: {'f:spec': {}}}]", 1) +
				"status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}\n",
			want: []string{"Ingress shop/web"},
		},
		"a List and a List within": {
			in: `
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: a}}
- apiVersion: v1
  kind: List
  items: [{apiVersion: v1, kind: Namespace, metadata: {name: b}}]
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: c}}`,
			want:  []string{"Namespace /a", "Namespace /b"},
			notes: []string{"f.yaml: document 1: passed over: kind Deployment"},
		},
		"a list of one kind": {
			in: `
apiVersion: v1
kind: NamespaceList
items:
- metadata: {name: a}
- {apiVersion: v1, kind: Namespace, metadata: {name: b}}`,
			want: []string{"Namespace /a", "Namespace /b"},
		},
		"an empty list": {in: "{apiVersion: v1, kind: List, items: []}"},
		"no items":      {in: "{apiVersion: v1, kind: SecretList}"},
		"unknown kinds": {
			in: "{apiVersion: apps/v1, kind: Deployment, whatever: 1}\n---\n{apiVersion: v1, kind: PodList}\n---\n{apiVersion: x.io/v1, kind: AllowList}",
			notes: []string{
				"f.yaml: document 1: passed over: kind Deployment",
				"f.yaml: document 2: passed over: kind PodList",
				"f.yaml: document 3: passed over: kind AllowList",
			},
		},
		"another version of a known kind": {
			in:    "{apiVersion: networking.k8s.io/v1beta1, kind: Ingress}\n---\n{apiVersion: serving.knative.dev/v1, kind: Service}",
			notes: []string{"f.yaml: document 1: passed over: Ingress networking.k8s.io/v1beta1; what is read is networking.k8s.io/v1", "f.yaml: document 2: passed over: Service serving.knative.dev/v1; what is read is v1"},
		},
		"a kind that is written otherwise": {
			in:    "{apiVersion: networking.k8s.io/v1, kind: ingress}\n---\n{apiVersion: v1, kind: list, items: []}",
			notes: []string{"f.yaml: document 1: passed over: ingress networking.k8s.io/v1; what is read is Ingress networking.k8s.io/v1", "f.yaml: document 2: passed over: list v1; what is read is List v1"},
		},
		"merged keys": {
			in:   "<<: {apiVersion: v1, kind: Namespace}\nmetadata: {name: a}",
			want: []string{"Namespace /a"},
		},
		"CRLF, byte order mark, comments, empty documents": {
			in:   "\ufeff# x\r\n--- # y\r\napiVersion: v1\r\nkind: Namespace\r\nmetadata:\r\n  name: a\r\n---\r\n---\r\n# end\r\n",
			want: []string{"Namespace /a"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, notes, faults := read(t, c.in)
			if diff := cmp.Diff(c.want, names); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if len(faults) > 0 {
				t.Errorf("errors: %q", faults)
			}
		})
	}
}

// Each edit of the good Ingress makes the errors, and the Namespace behind it
// is read all the same.
func TestFromYAMLRefusesIngress(t *testing.T) {
	t.Parallel()
	const at = "f.yaml: document 1: Ingress shop/web: "
	cases := map[string]struct {
		old, new string
		want     []string
	}{
		"unknown field":         {"pathType: Prefix", "pathType: Prefix, foo: 1", []string{at + `spec.rules[0].http.paths[0].foo: want backend, path or pathType (got "foo", which is not a field)`}},
		"field in another case": {"host: s", "Host: s", []string{at + `spec.rules[0].Host: want host or http (got "Host", which is not a field)`}},
		"repeated key":          {"{path: /,", "{path: /, path: /b,", []string{at + "spec.rules[0].http.paths[0].path: want it once (got it again)"}},
		"number for text":       {"host: shop.example.com", "host: 80", []string{at + "spec.rules[0].host: want text: put it in quotes (got 80)"}},
		"boolean for text":      {"namespace: shop", "namespace: shop, annotations: {x: on}", []string{at + "metadata.annotations[x]: want text: put it in quotes (got true)"}},
		"text for a number":     {"number: 80", "number: '80'", []string{at + `spec.rules[0].http.paths[0].backend.service.port.number: want a whole number without quotes (got "80")`}},
		"number too large":      {"number: 80", "number: 3000000000", []string{at + `spec.rules[0].http.paths[0].backend.service.port.number: want a whole number from -2147483648 to 2147483647 (got 3000000000)`}},
		"list for an object":    {"http:", "http: [1]\n    xxxx:", []string{at + "spec.rules[0].http: want an object (got a list)", at + `spec.rules[0].xxxx: want host or http (got "xxxx", which is not a field)`}},
		"object for a list":     {"rules:", "rules: {a: 1}\n  tls:", []string{at + "spec.rules: want a list (got an object)", at + `spec.tls[0].host: want hosts or secretName (got "host", which is not a field)`, at + `spec.tls[0].http: want hosts or secretName (got "http", which is not a field)`}},
		"bad time":              {"namespace: shop", "namespace: shop, creationTimestamp: yesterday", []string{at + `metadata.creationTimestamp: want a time such as 2006-01-02T15:04:05Z (got "yesterday")`}},
		"path type":             {"Prefix", "Regex", []string{at + `spec.rules[0].http.paths[0].pathType: want Exact, Prefix or ImplementationSpecific (got "Regex")`}},
		"no path type":          {", pathType: Prefix", "", []string{at + "spec.rules[0].http.paths[0].pathType: want Exact, Prefix or ImplementationSpecific (got nothing)"}},
		"empty path type":       {"Prefix", "''", []string{at + `spec.rules[0].http.paths[0].pathType: want Exact, Prefix or ImplementationSpecific (got "")`}},
		"relative path":         {"path: /", "path: a", []string{at + `spec.rules[0].http.paths[0].path: want a path that begins with "/" (got "a")`}},
		"empty path":            {"path: /", "path: ''", []string{at + `spec.rules[0].http.paths[0].path: want a path that begins with "/" (got nothing)`}},
		"control character":     {"path: /", `path: "/\r\n"`, []string{at + `spec.rules[0].http.paths[0].path: want a path without control characters (got "/\r\n")`}},
		"host in upper case":    {"shop.example.com", "Shop.example.com", []string{at + `spec.rules[0].host: want a DNS name such as shop.example.com or *.example.com, in lower case (got "Shop.example.com")`}},
		"host is an address":    {"shop.example.com", "10.0.0.1", []string{at + `spec.rules[0].host: want a DNS name such as shop.example.com or *.example.com, in lower case (got "10.0.0.1")`}},
		"inner wildcard":        {"shop.example.com", "a.*.com", []string{at + `spec.rules[0].host: want a DNS name such as shop.example.com or *.example.com, in lower case (got "a.*.com")`}},
		"wildcard alone":        {"shop.example.com", "'*'", []string{at + `spec.rules[0].host: want a DNS name such as shop.example.com or *.example.com, in lower case (got "*")`}},
		"host that injects":     {"shop.example.com", `"a;}\n"`, []string{at + `spec.rules[0].host: want a DNS name such as shop.example.com or *.example.com, in lower case (got "a;}\n")`}},
		"two ports":             {"number: 80", "number: 80, name: http", []string{at + "spec.rules[0].http.paths[0].backend.service.port: want either a number or a name (got both)"}},
		"no port":               {"number: 80", "", []string{at + "spec.rules[0].http.paths[0].backend.service.port: want a number or a name (got nothing)"}},
		"port out of range":     {"number: 80", "number: 70000", []string{at + "spec.rules[0].http.paths[0].backend.service.port.number: want a port from 1 to 65535 (got 70000)"}},
		"port name":             {"number: 80", "name: a_b", []string{at + `spec.rules[0].http.paths[0].backend.service.port.name: want a port name of at most 15 lower-case letters, digits and "-", with a letter (got "a_b")`}},
		"service name":          {"name: web, port", "name: We, port", []string{at + `spec.rules[0].http.paths[0].backend.service.name: want a name of lower-case letters, digits and "-", at most 63 characters (got "We")`}},
		"no backend":            {"{service: {name: web, port: {number: 80}}}", "{}", []string{at + "spec.rules[0].http.paths[0].backend: want a service or a resource (got nothing)"}},
		"both backends":         {"{service:", "{resource: {kind: A, name: b}, service:", []string{at + "spec.rules[0].http.paths[0].backend: want either a service or a resource (got both)"}},
		"resource":              {"{service: {name: web, port: {number: 80}}}", "{resource: {apiGroup: A_, kind: '', name: a/b}}", []string{at + `spec.rules[0].http.paths[0].backend.resource.apiGroup: want a name of lower-case letters, digits, "-" and ".", at most 253 characters (got "A_")`, at + `spec.rules[0].http.paths[0].backend.resource.kind: want a name without "/" and "%" (got "")`, at + `spec.rules[0].http.paths[0].backend.resource.name: want a name without "/" and "%" (got "a/b")`}},
		"class name":            {"spec:", "spec:\n  ingressClassName: A", []string{at + `spec.ingressClassName: want a name of lower-case letters, digits, "-" and ".", at most 253 characters (got "A")`}},
		"default backend":       {"spec:", "spec:\n  defaultBackend: {}", []string{at + "spec.defaultBackend: want a service or a resource (got nothing)"}},
		"tls":                   {"spec:", "spec:\n  tls: [{hosts: [a, B], secretName: ../x}]", []string{at + `spec.tls[0].hosts[1]: want a DNS name such as shop.example.com or *.example.com, in lower case (got "B")`, at + `spec.tls[0].secretName: want a name of lower-case letters, digits, "-" and ".", at most 253 characters (got "../x")`}},
		"name":                  {"name: web, namespace", "name: Web, namespace", []string{strings.Replace(at, "/web", "/Web", 1) + `metadata.name: want a name of lower-case letters, digits, "-" and ".", at most 253 characters (got "Web")`}},
		"no name":               {"name: web, namespace", "namespace", []string{"f.yaml: document 1: Ingress: metadata.name: want a name of lower-case letters, digits, \"-\" and \".\", at most 253 characters (got nothing)"}},
		"namespace":             {"namespace: shop", "namespace: a.b", []string{strings.Replace(at, "shop/", "a.b/", 1) + `metadata.namespace: want a name of lower-case letters, digits and "-", at most 63 characters (got "a.b")`}},
		"annotation key":        {"namespace: shop", "namespace: shop, annotations: {'a b': c}", []string{at + `metadata.annotations[a b]: want a key such as example.com/name: an optional DNS name and "/", then at most 63 letters, digits, "-", "_" and "." (got "a b")`}},
		"annotations too large": {"namespace: shop", "namespace: shop, annotations: {a: " + strings.Repeat("x", 1<<20) + "}", []string{at + "metadata.annotations: want at most 262144 bytes in keys and values together (got 1048577)"}},
		"no paths":              {"paths:\n      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}", "paths: []", []string{at + "spec.rules[0].http.paths: want at least one path (got nothing)"}},
		"no kind":               {"kind: Ingress", "", []string{"f.yaml: document 1: web: kind: want the kind of the object, such as Ingress (got nothing)"}},
		"no version":            {"apiVersion: networking.k8s.io/v1", "", []string{at + "apiVersion: want the version of the kind, such as networking.k8s.io/v1 (got nothing)"}},
		"does not parse":        {"- host: shop", "- host: {shop", []string{"f.yaml: document 1: want YAML: near line 7: did not find expected ',' or '}'"}},
		"not UTF-8":             {"shop.example", "\xc3\x28", []string{"f.yaml: document 1: want UTF-8 text (got bytes that are not UTF-8)"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(goodIngress, c.old) {
				t.Fatalf("the good Ingress has no %q", c.old)
			}
			names, _, faults := read(t, strings.Replace(goodIngress, c.old, c.new, 1)+"---\n{apiVersion: v1, kind: Namespace, metadata: {name: other}}")
			if diff := cmp.Diff(c.want, faults); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"Namespace /other"}, names); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFromYAMLTakesIngress(t *testing.T) {
	t.Parallel()
	for _, edit := range [][2]string{
		{"shop.example.com", "'*.example.com'"},
		{"host: shop.example.com", "host: ''"},
		{"path: /, pathType: Prefix", "pathType: ImplementationSpecific"},
		{"path: /,", "path: '/a{};$ \"\\é',"},
		{"path: /,", "path: //a/../b,"},
		{"number: 80", "name: http"},
		{"{service: {name: web, port: {number: 80}}}", "{resource: {apiGroup: k8s.example.com, kind: Bucket, name: b}}"},
		{"spec:", "spec:\n  defaultBackend: {service: {name: a, port: {number: 1}}}"},
		{"namespace: shop", "namespace: shop, annotations: {nginx.ingress.kubernetes.io/configuration-snippet: \"a;\\nb;\"}"},
		{"namespace: shop", "namespace: shop, creationTimestamp: null"},
	} {
		t.Run(edit[1], func(t *testing.T) {
			t.Parallel()
			names, _, faults := read(t, strings.Replace(goodIngress, edit[0], edit[1], 1))
			if len(faults) > 0 || len(names) != 1 {
				t.Errorf("got %q, errors %q", names, faults)
			}
		})
	}
}

func TestFromYAMLRefusesOthers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		in   string
		want []string
	}{
		"Service": {
			"{apiVersion: v1, kind: Service, metadata: {name: a.b}, spec: {type: Foo, clusterIP: x, ports: [{port: 0, protocol: tcp}, {name: A, port: 1, targetPort: 70000}, {name: A, port: 1, targetPort: -}]}}",
			[]string{
				`metadata.name: want a name of lower-case letters, digits and "-", at most 63 characters (got "a.b")`,
				`spec.type: want ClusterIP, NodePort, LoadBalancer or ExternalName (got "Foo")`,
				`spec.clusterIP: want an IP address or None (got "x")`,
				"spec.ports[0].port: want a port from 1 to 65535 (got 0)",
				`spec.ports[0].protocol: want TCP, UDP or SCTP (got "tcp")`,
				"spec.ports[1].targetPort: want a port from 1 to 65535 (got 70000)",
				`spec.ports[2].targetPort: want a port from 1 to 65535 or a port name of at most 15 lower-case letters, digits and "-", with a letter (got "-")`,
				`spec.ports[1].name: want a name of lower-case letters, digits and "-", at most 63 characters (got "A")`,
				`spec.ports[2].name: want a name of lower-case letters, digits and "-", at most 63 characters (got "A")`,
			},
		},
		"Service without ports": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {}}",
			[]string{"spec.ports: want at least one port (got nothing)"},
		},
		"Service with ports of one name": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1}, {port: 2}]}}",
			[]string{`spec.ports[1].name: want a name that no other port has (got "")`},
		},
		"ExternalName": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: ExternalName, externalName: 'a;b'}}",
			[]string{`spec.externalName: want a DNS name such as db.example.com (got "a;b")`},
		},
		"EndpointSlice": {
			"{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a, labels: {kubernetes.io/service-name: A}}, addressType: IPv4, endpoints: [{addresses: []}, {addresses: [10.0.0.1, '::1', 010.0.0.1, x]}], ports: [{port: 0}]}",
			[]string{
				`metadata.labels[kubernetes.io/service-name]: want a name of lower-case letters, digits and "-", at most 63 characters (got "A")`,
				"endpoints[0].addresses: want at least one address (got nothing)",
				`endpoints[1].addresses[1]: want an address of type IPv4 (got "::1")`,
				`endpoints[1].addresses[2]: want an address of type IPv4 (got "010.0.0.1")`,
				`endpoints[1].addresses[3]: want an address of type IPv4 (got "x")`,
				"ports[0].port: want a port from 1 to 65535 (got 0)",
			},
		},
		"EndpointSlice without a type": {
			"{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}, endpoints: []}",
			[]string{"addressType: want IPv4, IPv6 or FQDN (got nothing)"},
		},
		"EndpointSlice of another type": {
			"{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}, addressType: IP, endpoints: []}",
			[]string{`addressType: want IPv4, IPv6 or FQDN (got "IP")`},
		},
		"EndpointSlice with a zone": {
			"{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}, addressType: IPv6, endpoints: [{addresses: ['fe80::1%eth0']}]}",
			[]string{`endpoints[0].addresses[0]: want an address of type IPv6 (got "fe80::1%eth0")`},
		},
		"Endpoints": {
			"{apiVersion: v1, kind: Endpoints, metadata: {name: a}, subsets: [{addresses: [{ip: x}], notReadyAddresses: [{ip: ''}], ports: [{port: 99999}]}]}",
			[]string{
				`subsets[0].addresses[0].ip: want an IP address (got "x")`,
				`subsets[0].notReadyAddresses[0].ip: want an IP address (got "")`,
				"subsets[0].ports[0].port: want a port from 1 to 65535 (got 99999)",
			},
		},
		"Secret": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {tls.key: hush-1, a: 5}, stringData: {b: 7}}",
			[]string{"data[tls.key]: want text in base64 (got text)", "data[a]: want text in base64 (got a number or a boolean)", "stringData[b]: want text: put it in quotes (got a number or a boolean)"},
		},
		"Secret with a bad key": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {'a b': aHVzaA==}, stringData: {/: hush}}",
			[]string{`data[a b]: want a key of at most 253 letters, digits, "-", "_" and "." (got "a b")`, `stringData[/]: want a key of at most 253 letters, digits, "-", "_" and "." (got "/")`},
		},
		"ConfigMap": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b, /: c}, binaryData: {a: aGk=}}",
			[]string{`data[/]: want a key of at most 253 letters, digits, "-", "_" and "." (got "/")`, "binaryData[a]: want a key that is not in data too (got it in both)"},
		},
		"Namespace": {
			"{apiVersion: v1, kind: Namespace, metadata: {name: a.b, namespace: c}}",
			[]string{`metadata.namespace: want none: the kind has no namespaces (got "c")`, `metadata.name: want a name of lower-case letters, digits and "-", at most 63 characters (got "a.b")`},
		},
		"IngressClass": {
			"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: a}, spec: {controller: nginx}}",
			[]string{`spec.controller: want a controller such as k8s.io/ingress-nginx, at most 250 characters (got "nginx")`},
		},
		"items of a List": {
			"{apiVersion: v1, kind: List, items: [5, {kind: Ingress}, {apiVersion: v1, kind: Namespace, metadata: {name: A}}]}",
			[]string{
				"items[0]: want an object with apiVersion and kind (got something else)",
				"items[1].apiVersion: want the version of the kind, such as networking.k8s.io/v1 (got nothing)",
				`items[2].metadata.name: want a name of lower-case letters, digits, "-" and ".", at most 253 characters (got "A")`,
			},
		},
		"unknown field of a List": {
			"{apiVersion: v1, kind: List, item: []}",
			[]string{`item: want apiVersion, items, kind or metadata (got "item", which is not a field)`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, _, err := FromYAML("f.yaml", []byte(c.in))
			var got []string
			for _, err := range Errors(err) {
				var decode *snapshot.DecodeError
				errors.As(err, &decode)
				got = append(got, decode.Field+": "+decode.Text)
				if strings.Contains(err.Error(), "hush") {
					t.Errorf("the error tells a secret: %v", err)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if n := objects.Len(); n > 0 {
				t.Errorf("%d objects came of it", n)
			}
		})
	}
}

func TestListsWithinLists(t *testing.T) {
	t.Parallel()
	text := "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"
	for range maxDepth {
		text = "{apiVersion: v1, kind: List, items: [" + text + "]}"
	}
	if names, _, faults := read(t, text); len(names) != 1 || len(faults) > 0 {
		t.Errorf("%d Lists: got %q, errors %q", maxDepth, names, faults)
	}
	names, _, faults := read(t, "{apiVersion: v1, kind: List, items: ["+text+"]}")
	if len(names) > 0 || len(faults) != 1 || !strings.Contains(faults[0], "want at most 4 Lists within each other") {
		t.Errorf("one more: got %q, errors %q", names, faults)
	}
}

// What the API server fills in is filled in.
func TestDefaults(t *testing.T) {
	t.Parallel()
	objects, _, err := FromYAML("f.yaml", []byte(`
{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}, {name: b, port: 81, targetPort: web}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}, addressType: IPv4, endpoints: [], ports: [{}]}
---
{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: b2xk, b: b2xk}, stringData: {b: new, c: new}}
`))
	if err != nil {
		t.Fatal(err)
	}
	service, port, secret := objects.Services[0].Spec, objects.EndpointSlices[0].Ports[0], objects.Secrets[0]
	got := fmt.Sprint(service.Type, service.Ports[0].Protocol, service.Ports[0].TargetPort.String(), service.Ports[1].TargetPort.String(), *port.Name, *port.Protocol, port.Port == nil)
	if want := "ClusterIPTCP80webTCPtrue"; strings.ReplaceAll(got, " ", "") != want {
		t.Errorf("want %s, got %s", want, got)
	}
	want := map[string][]byte{"a": []byte("old"), "b": []byte("new"), "c": []byte("new")}
	if diff := cmp.Diff(want, secret.Data); diff != "" || secret.StringData != nil {
		t.Errorf("data (-want +got):\n%s\nstringData: %v", diff, secret.StringData)
	}
}

// However much is wrong, little is said.
func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	paths := strings.Repeat("      - {path: x, foo: 1}\n", 1000)
	for _, text := range []string{goodIngress + paths, goodIngress + strings.ReplaceAll(paths, ", foo: 1", "")} {
		if _, _, faults := read(t, text); len(faults) != maxFaults {
			t.Errorf("want %d errors, got %d", maxFaults, len(faults))
		}
	}
}
