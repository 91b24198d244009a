package chart

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"sluice/test/chart/rendering"
)

// known is a value of ingress-nginx's chart.
type known struct {
	key string
	// initial is its default, as JSON; empty if it is not set.
	initial string
}

// knownValues are those of ingress-nginx's chart 4.15.
func knownValues(t testing.TB) []known {
	t.Helper()
	file, err := os.Open("testdata/ingress-nginx-values.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 370 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	var all []known
	for _, row := range rows[1:] {
		all = append(all, known{row[0], row[1]})
	}
	return all
}

// pathOf splits a key at its dots, but for labels, which have some themselves.
func pathOf(key string) []string {
	if at := strings.Index(key, "nodeSelector."); at >= 0 {
		return append(strings.Split(key[:at], ".")[:strings.Count(key[:at], ".")], "nodeSelector", key[at+len("nodeSelector."):])
	}
	return strings.Split(key, ".")
}

// needed are values without which others do nothing: those of the longest key
// that one begins with are set, too.
var needed = map[string]string{
	"controller.hostPort.ports":                                 "controller: {hostPort: {enabled: true}}",
	"controller.reportNodeInternalIp":                           "controller: {hostNetwork: true}",
	"controller.scope.namespace":                                "controller: {scope: {enabled: true}}",
	"controller.tcp":                                            `tcp: {"9000": shop/a:1}`,
	"controller.service.enableHttp3":                            `controller: {config: {use-http3: "true"}}`,
	"controller.udp":                                            `udp: {"9000": shop/a:1}`,
	"controller.service.nodePorts.tcp":                          `tcp: {"9000": shop/a:1}`,
	"controller.service.nodePorts.udp":                          `udp: {"9000": shop/a:1}`,
	"controller.image.image":                                    "controller: {image: {registry: registry.example}}",
	"controller.service.internal":                               "controller: {service: {internal: {enabled: true, type: NodePort}}}",
	"controller.service.internal.enabled":                       "controller: {service: {internal: {type: NodePort}}}",
	"controller.service.internal.type":                          "controller: {service: {internal: {enabled: true, annotations: {a: b}}}}",
	"controller.service.internal.loadBalancerClass":             "controller: {service: {internal: {enabled: true}}}",
	"controller.service.internal.nodePorts.tcp":                 `{tcp: {"9000": shop/a:1}, controller: {service: {internal: {enabled: true, type: NodePort}}}}`,
	"controller.service.internal.nodePorts.udp":                 `{udp: {"9000": shop/a:1}, controller: {service: {internal: {enabled: true, type: NodePort}}}}`,
	"controller.minAvailable":                                   "controller: {replicaCount: 2}",
	"controller.maxUnavailable":                                 "controller: {replicaCount: 2}",
	"controller.unhealthyPodEvictionPolicy":                     "controller: {replicaCount: 2}",
	"controller.autoscaling":                                    "controller: {autoscaling: {enabled: true}}",
	"controller.autoscaling.enabled":                            "{}",
	"controller.autoscalingTemplate":                            "controller: {autoscaling: {enabled: true}}",
	"controller.keda":                                           "controller: {keda: {enabled: true}}",
	"controller.keda.enabled":                                   "{}",
	"controller.metrics":                                        "controller: {metrics: {enabled: true}}",
	"controller.metrics.enabled":                                "{}",
	"controller.metrics.service.nodePort":                       "controller: {metrics: {enabled: true, service: {type: NodePort}}}",
	"controller.metrics.serviceMonitor":                         "controller: {metrics: {enabled: true, serviceMonitor: {enabled: true}}}",
	"controller.metrics.serviceMonitor.enabled":                 "controller: {metrics: {enabled: true}}",
	"controller.metrics.prometheusRule":                         "controller: {metrics: {enabled: true, prometheusRule: {enabled: true}}}",
	"controller.metrics.prometheusRule.enabled":                 "controller: {metrics: {enabled: true}}",
	"controller.metrics.dashboards":                             "controller: {metrics: {enabled: true, dashboards: {enabled: true}}}",
	"controller.metrics.dashboards.enabled":                     "controller: {metrics: {enabled: true}}",
	"controller.admissionWebhooks.certificate":                  "controller: {admissionWebhooks: {patch: {enabled: false}}}",
	"controller.admissionWebhooks.key":                          "controller: {admissionWebhooks: {patch: {enabled: false}}}",
	"controller.admissionWebhooks.certManager":                  "controller: {admissionWebhooks: {certManager: {enabled: true}}}",
	"controller.admissionWebhooks.certManager.enabled":          "{}",
	"defaultBackend":                                            "defaultBackend: {enabled: true}",
	"defaultBackend.enabled":                                    "{}",
	"defaultBackend.minAvailable":                               "defaultBackend: {enabled: true, replicaCount: 2}",
	"defaultBackend.maxUnavailable":                             "defaultBackend: {enabled: true, replicaCount: 2}",
	"defaultBackend.unhealthyPodEvictionPolicy":                 "defaultBackend: {enabled: true, replicaCount: 2}",
	"defaultBackend.autoscaling":                                "defaultBackend: {enabled: true, autoscaling: {enabled: true}}",
	"defaultBackend.autoscaling.enabled":                        "defaultBackend: {enabled: true}",
	"rbac.scope":                                                "controller: {scope: {enabled: true}}",
	"controller.ingressClassResource.annotations":               "controller: {ingressClassResource: {aliases: [other]}}",
	"controller.service.healthCheckNodePort":                    "controller: {service: {externalTrafficPolicy: Local}}",
	"portNamePrefix":                                            `tcp: {"9000": shop/a:1}`,
	"controller.service.internal.allocateLoadBalancerNodePorts": "controller: {service: {internal: {enabled: true, annotations: {a: b}}}}",
}

// samples are what values are set to where something else than of the same type
// is wanted.
var samples = map[string]string{
	"controller.admissionWebhooks.matchConditions":       "[{name: ours, expression: object.spec.ingressClassName == 'nginx'}]",
	"controller.admissionWebhooks.certManager.issuerRef": "{kind: ClusterIssuer, name: internal}",
	"controller.admissionWebhooks.mode":                  "warn",
	"controller.admissionWebhooks.failurePolicy":         "Fail",
	"controller.containerPort":                           "{extra: 2443}",
	"controller.hostPort.ports":                          "{http: 8080}",
	"controller.hostname":                                "sample",
	"controller.image.repository":                        "registry.example/sluice",
	"controller.extraArgs":                               "{default-ssl-certificate: shop/tls}",
	"controller.ingressClassResource.aliases":            "[internal]",
	"controller.ingressClassResource.parameters":         "{kind: ConfigMap, name: internal, scope: Namespace, namespace: settings}",
	"controller.publishService.pathOverride":             "edge/balancer",
	"controller.scope.namespaceSelector":                 "team=web",
	"controller.keda.fallback":                           "{replicas: 2}",
	"controller.livenessProbe":                           "{periodSeconds: 20}",
	"controller.readinessProbe":                          "{httpGet: {path: /healthz}}",
	"controller.startupProbe":                            "{httpGet: {path: /healthz, port: 10254}}",
	"controller.lifecycle":                               "{preStop: {exec: {command: [/wait-shutdown]}}}",
	"controller.sysctls":                                 "{net.core.somaxconn: 32768}",
	"controller.resources":                               "{limits: {memory: 1Gi}}",
	"controller.service.nodePorts.tcp":                   `{"9000": 30900}`,
	"controller.service.nodePorts.udp":                   `{"9000": 30900}`,
	"controller.service.internal.nodePorts.tcp":          `{"9000": 30900}`,
	"controller.service.internal.nodePorts.udp":          `{"9000": 30900}`,
	"controller.service.internal.type":                   "NodePort",
	"controller.service.nodePorts.http":                  "30080",
	"controller.service.nodePorts.https":                 "30443",
	"controller.service.internal.nodePorts.http":         "30080",
	"controller.service.internal.nodePorts.https":        "30443",
	"controller.service.ipFamilies":                      "[IPv6]",
	"controller.service.internal.ipFamilies":             "[IPv6]",
	"controller.metrics.service.nodePort":                "30254",
	"controller.terminationGracePeriodSeconds":           "60",
	"controller.minAvailable":                            "50%",
	"controller.replicaCount":                            "3",
	"controller.autoscaling.minReplicas":                 "2",
	"controller.keda.minReplicas":                        "2",
	"defaultBackend.replicaCount":                        "3",
	"defaultBackend.extraConfigMaps":                     "[{name: pages, labels: {a: b}, data: {index.html: hello}}]",
	"defaultBackend.livenessProbe":                       "{periodSeconds: 20}",
	"defaultBackend.readinessProbe":                      "{periodSeconds: 20}",
	"rbac.secretNames":                                   "{shop: [shop-tls]}",
	"rbac.configMapNames":                                "{settings: [internal]}",
	"rbac.headerConfigMaps":                              "{shop: [headers]}",
	"tcp":                                                `{"5432": shop/database:5432}`,
	"udp":                                                `{"53": shop/names:53}`,
}

// sampleOf is a value that is not the default.
func sampleOf(t testing.TB, v *value) any {
	t.Helper()
	if text, is := samples[v.name()]; is {
		var sample any
		if err := yaml.Unmarshal([]byte(text), &sample); err != nil {
			t.Fatal(err)
		}
		return sample
	}
	if list, is := strings.CutPrefix(v.kind, "enum "); is {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one != "" && one != v.initial {
				return one
			}
		}
	}
	switch initial := v.initial.(type) {
	case bool:
		return !initial
	case int:
		return initial + 1
	case []any:
		return []any{"sample"}
	case map[string]any:
		return map[string]any{"sample": "text"}
	}
	switch first, _, _ := strings.Cut(v.kind, "|"); first {
	case "boolean":
		return true
	case "integer":
		return 7
	}
	return "sample"
}

// with gives the values that are set for another to have an effect.
func with(t testing.TB, key string) map[string]any {
	t.Helper()
	longest := ""
	for prefix := range needed {
		if (key == prefix || strings.HasPrefix(key, prefix+".")) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	values, err := rendering.Parse(needed[longest])
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// set sets one value.
func set(values map[string]any, path []string, to any) {
	for _, part := range path[:len(path)-1] {
		below, is := values[part].(map[string]any)
		if !is {
			below = map[string]any{}
			values[part] = below
		}
		values = below
	}
	values[path[len(path)-1]] = to
}

// bases are renderings without the value that is looked at, by what else is set.
var bases sync.Map

// effect renders the chart without and with one value, and gives what differs;
// and the notes.
func effect(t testing.TB, path []string, to any) (differs, notes string) {
	t.Helper()
	key := strings.Join(path, ".")
	needs := fmt.Sprint(with(t, key))
	before, rendered := bases.Load(needs)
	if !rendered {
		r, err := rendering.Default().RenderValues(with(t, key))
		if err != nil {
			t.Errorf("%s: without it: %v", key, err)
			return "", ""
		}
		before, _ = bases.LoadOrStore(needs, byName(t, r.Objects))
	}
	values := with(t, key)
	set(values, path, to)
	after, err := rendering.Default().RenderValues(values)
	if err != nil {
		t.Errorf("%s: %v: %v", key, to, err)
		return "", ""
	}
	return differences(before.(map[string][]string), byName(t, after.Objects)), after.Notes
}

// differences are the objects that go and come, and the lines of others; objects
// with the same ones are told of together.
func differences(was, is map[string][]string) string {
	names := slices.Compact(slices.Sorted(mapKeys(was, is)))
	same := map[string][]string{} // the names, by what changes
	var order []string
	for _, name := range names {
		text := ""
		switch {
		case was[name] == nil:
			text = "+ all of it\n"
		case is[name] == nil:
			text = "- all of it\n"
		default:
			for _, line := range changed(was[name], is[name]) {
				text += line + "\n"
			}
		}
		if text == "" {
			continue
		}
		if same[text] == nil {
			order = append(order, text)
		}
		same[text] = append(same[text], name)
	}
	var all strings.Builder
	for _, text := range order {
		fmt.Fprintf(&all, "  %s\n", strings.Join(same[text], ", "))
		for line := range strings.Lines(text) {
			all.WriteString("    " + line)
		}
	}
	return all.String()
}

// TestEachValueHasItsEffect shows in testdata/effects.txt what each value changes
// of what is rendered. One that changes nothing is none.
func TestEachValueHasItsEffect(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("What each value changes: the lines that go and come, by the object. `make golden` writes this.\n")
	for _, v := range readValues(t).leaves() {
		sample := sampleOf(t, v)
		differs, _ := effect(t, v.path, sample)
		if v.name() == "controller.acceptUnsupported" {
			continue // it changes what is refused: TestWhatWouldServeNothingIsRefused
		}
		if differs == "" {
			t.Errorf("%s: %v changes nothing", v.name(), sample)
		}
		text, err := yaml.Marshal(sample)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&page, "\n%s: %s\n%s", v.name(), strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "; "), differs)
	}
	fresh(t, "test/chart/testdata/effects.txt", page.String())
}

// TestValuesWithoutEffect: those of without-effect.yaml change nothing, and the
// notes tell that, and why.
func TestValuesWithoutEffect(t *testing.T) {
	t.Parallel()
	for _, group := range readUnused(t) {
		for name, kind := range group.Values {
			sample := map[string]any{"string": "sample", "boolean": true, "integer": 7, "object": map[string]any{"a": "b"}, "array": []any{"a"}}[kind]
			if strings.HasPrefix(name, "controller.customTemplate.") {
				sample = "" // a name is refused; see TestRefused
			}
			if initial, is := group.Defaults[name]; is {
				sample = initial != true
			}
			differs, notes := effect(t, strings.Split(name, "."), sample)
			if differs != "" {
				t.Errorf("%s has an effect:\n%s", name, differs)
			}
			if told := strings.Contains(notes, name) && strings.Contains(notes, group.Reason); told != (sample != "") {
				t.Errorf("%s: %v: the notes tell that it has no effect, and why: %v:\n%s", name, sample, told, notes)
			}
		}
	}
	r, err := rendering.Default().Render("")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Notes, "no effect") || strings.Contains(r.Notes, "do less") {
		t.Errorf("the notes tell of values that nobody gave:\n%s", r.Notes)
	}
}

// another is a value of the same type as a default, which is JSON or empty.
func another(t testing.TB, initial string) any {
	t.Helper()
	var was any
	if err := yaml.Unmarshal([]byte(initial), &was); err != nil {
		t.Fatal(err)
	}
	switch was := was.(type) {
	case float64:
		return int(was) + 1
	case []any:
		return []any{"sample"}
	}
	return "sample"
}

// reasonOf says why a value of ingress-nginx's chart has no effect.
func reasonOf(t testing.TB, key string) string {
	t.Helper()
	for _, group := range readUnused(t) {
		for name := range group.Values {
			if key == name || strings.HasPrefix(key, name+".") {
				return group.Reason
			}
		}
	}
	return ""
}
