package translate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// scopeServices are Services whose requests stay in their namespace (own), or that lead elsewhere.
const scopeServices = `---
apiVersion: v1
kind: Service
metadata: {name: own, namespace: default}
spec: {selector: {app: own}, clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: own-1, namespace: default, labels: {kubernetes.io/service-name: own, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.1]}]
ports: [{name: http, port: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: own-by-hand, namespace: default, labels: {kubernetes.io/service-name: own}}
addressType: IPv4
endpoints: [{addresses: [10.2.0.1]}]
ports: [{name: http, port: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: free, namespace: default}
spec: {ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: free-1, namespace: default, labels: {kubernetes.io/service-name: free, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
addressType: IPv4
endpoints: [{addresses: [10.2.0.2]}]
ports: [{name: http, port: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: external, namespace: default}
spec: {type: ExternalName, externalName: api.other.svc.cluster.local, selector: {app: own}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: tcp, namespace: sluice}
data: {"9001": "default/own:80", "9002": "default/free:80", "9003": "default/external:80"}
`

// With target-scope: namespace, only Pods that a Service selects get requests.
func TestRequestsStayInTheirNamespace(t *testing.T) {
	t.Parallel()
	w := world{yaml: scopeServices, config: map[string]string{"target-scope": "namespace"}, ingresses: []ing{
		{name: "u", annotations: map[string]string{"service-upstream": "true"}, rules: []string{"u.example / P own:80"}},
		{name: "v", rules: []string{"v.example / P own:80", "v.example /free P free:80", "v.example /external P external:80", "v.example /none P none:80"}},
	}, options: func(o *Options) { o.TCPServices = snapshot.Name{Namespace: "sluice", Name: "tcp"} }}
	for scope, want := range map[string][]string{
		"any":       {"default/external/80 api.other.svc.cluster.local", "default/free/80 10.2.0.2:8080", "default/own/80 10.1.0.1:8080 10.2.0.1:8080", "default/own/80~ 10.96.0.1:80", "stream 9001 10.1.0.1:8080 10.2.0.1:8080", "stream 9002 10.2.0.2:8080"},
		"namespace": {"default/own/80 10.1.0.1:8080", "default/own/80~ 10.1.0.1:8080", "stream 9001 10.1.0.1:8080"},
		"nowhere":   {"default/own/80 10.1.0.1:8080", "default/own/80~ 10.1.0.1:8080", "stream 9001 10.1.0.1:8080"},
	} {
		w.config["target-scope"] = scope
		config, problems := w.translate(t)
		if diff := cmp.Diff(want, leads(config)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", scope, diff)
		}
		for _, told := range []string{"Unsupported EndpointSlice default/own-by-hand metadata.labels", "Unsupported Ingress default/v spec.rules[1].http.paths[0].backend.service.name", "Unsupported Ingress default/v spec.rules[2].http.paths[0].backend.service.name",
			"Unsupported Service default/own spec.clusterIP", "Unsupported ConfigMap sluice/tcp 9002"} {
			if slices.Contains(problems, told) == (scope == "any") {
				t.Errorf("%s: is it told (%s)? %q", scope, told, problems)
			}
		}
	}
}

// leads returns where the backends and streams lead, without those that lead nowhere.
func leads(config model.Config) []string {
	var all []string
	add := func(name string, external string, endpoints []model.Endpoint) {
		text := name
		for _, e := range endpoints {
			text += fmt.Sprintf(" %s:%d", e.Address, e.Port)
		}
		if external != "" {
			text += " " + external
		}
		if text != name {
			all = append(all, text)
		}
	}
	for _, b := range config.Dynamic.Backends {
		key, _, varied := strings.Cut(b.Key, "~")
		if varied {
			key += "~"
		}
		add(key, b.ExternalName, b.Endpoints)
	}
	for _, s := range config.Static.Streams {
		add(fmt.Sprintf("stream %d", s.Port), "", s.Endpoints)
	}
	return all
}

// With target-scope: namespace, auth-url and mirror-target lead to Services of the namespace of
// their Ingress only: else the path is closed, and nothing is mirrored.
func TestTargetsStayInTheirNamespace(t *testing.T) {
	t.Parallel()
	for url, stays := range map[string]bool{
		"http://own.default.svc/check": true, "http://own.default.svc.cluster.local": true,
		"http://own.other.svc": false, "http://own.other.svc.cluster.local": false, "http://own.other": false, "http://own.default": false, "http://own": false,
		"http://10.0.0.1": false, "http://[fd00::1]:8080/x": false, "https://auth.example": false, "https://$host/check": false,
		"http://own.default.svc.cluster.local.evil.example": false, "http://x.own.default.svc": false, "http://own.default.svc.example": false,
	} {
		for _, key := range []string{"auth-url", "mirror-target"} {
			if key == "mirror-target" && strings.Contains(url, "$") {
				continue
			}
			w := world{yaml: scopeServices, config: map[string]string{"target-scope": "namespace"}, ingresses: []ing{{name: "u", annotations: map[string]string{key: url}, rules: []string{"u.example / P own:80"}}}}
			config, problems := w.translate(t)
			closed, told := strings.HasSuffix(ask(config, "u.example/"), "-> 503"), slices.ContainsFunc(problems, func(p string) bool {
				return strings.HasPrefix(p, "Unsupported Ingress default/u "+key)
			})
			if told == stays || closed != (key == "auth-url" && !stays) {
				t.Errorf("%s: %s: it stays %v, but closed is %v: %q", key, url, stays, closed, problems)
			}
			for _, to := range leads(config) {
				if to != "default/own/80 10.1.0.1:8080" {
					t.Errorf("%s: %s leads to %s", key, url, to)
				}
			}
		}
	}
}

// The scope holds too where only endpoints change, and for backends that are no longer in use.
func TestTheScopeHoldsForEndpointsThatChange(t *testing.T) {
	t.Parallel()
	w := world{yaml: scopeServices, config: map[string]string{"target-scope": "namespace"}, ingresses: []ing{{name: "v", rules: []string{"v.example / P own:80"}}}}
	objects, memo := w.objects(t), NewMemo()
	before, _ := Config(newSnapshot(t, objects), w.flags(), memo)
	objects.EndpointSlices = slices.Clone(objects.EndpointSlices)
	for i, part := range objects.EndpointSlices {
		if part.Labels["kubernetes.io/service-name"] == "own" {
			changed := part.DeepCopy()
			changed.Endpoints[0].Addresses[0] = "10.3.0." + fmt.Sprint(i)
			objects.EndpointSlices[i] = changed
		}
	}
	snap := newSnapshot(t, objects)
	after, _ := Config(snap, w.flags(), memo)
	renewed := Renewer(snap, w.flags())(before.Dynamic.Backends[0])
	for name, endpoints := range map[string][]model.Endpoint{"in use": after.Dynamic.Backends[0].Endpoints, "no longer in use": renewed.Endpoints} {
		if len(endpoints) != 1 || !strings.HasPrefix(endpoints[0].Address, "10.3.0.") {
			t.Errorf("%s: %v", name, endpoints)
		}
	}
}
