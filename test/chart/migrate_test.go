package chart

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "sigs.k8s.io/yaml"

	"sluice/internal/migrate"
	"sluice/test/chart/rendering"
)

// running are the flags of the chart that decide nothing about an Ingress: sluice migrate need
// not make them of values.
var running = []string{
	"disable-leader-election", "election-id", "election-ttl", "healthz-host", "maxmind-license-key", "post-shutdown-grace-period", "publish-service", "report-node-internal-ip-address",
	"require-configmap", "shutdown-grace-period", "state-dir", "validating-webhook",
	"validating-webhook-certificate", "validating-webhook-configuration", "validating-webhook-key", "validating-webhook-secret", "validating-webhook-service", "watch-secrets",
}

// made are the flags and objects that decide how Ingresses are served.
type made struct {
	Flags      map[string]string
	ConfigMaps map[string]map[string]string
	// Classes are specs of IngressClasses, with "default" for the default one.
	Classes  map[string]any
	Services map[string][]int32
}

func newMade() made {
	return made{map[string]string{}, map[string]map[string]string{}, map[string]any{}, map[string][]int32{}}
}

func (m made) configMap(o *corev1.ConfigMap) {
	m.ConfigMaps[o.Namespace+"/"+o.Name] = maps.Clone(o.Data)
}

func (m made) class(o *networkingv1.IngressClass) {
	name := o.Name
	if o.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
		name += " (default)"
	}
	m.Classes[name] = o.Spec
}

func (m made) service(o *corev1.Service) {
	for _, port := range o.Spec.Ports {
		m.Services[o.Namespace+"/"+o.Name] = append(m.Services[o.Namespace+"/"+o.Name], port.Port)
	}
}

// byChart is what the chart makes of values, as the release ingress-nginx.
func byChart(t *testing.T, values map[string]any) made {
	t.Helper()
	release := rendering.Default()
	release.Name, release.Namespace = "ingress-nginx", "ingress-nginx"
	r, err := release.RenderValues(values)
	if err != nil {
		t.Fatal(err)
	}
	all := newMade()
	for _, object := range r.Objects {
		ofBackend := object.GetLabels()["app.kubernetes.io/component"] == "default-backend"
		switch kind := object.GetKind(); {
		case kind == "ConfigMap" && !ofBackend && !strings.HasSuffix(object.GetName(), "-dashboards"):
			all.configMap(decoded[corev1.ConfigMap](t, object))
		case kind == "IngressClass":
			all.class(decoded[networkingv1.IngressClass](t, object))
		case kind == "Service" && ofBackend:
			all.service(decoded[corev1.Service](t, object))
		case (kind == "Deployment" || kind == "DaemonSet") && !ofBackend:
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			arguments, _, err := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
			if err != nil {
				t.Fatal(err)
			}
			all.flags(arguments, object.GetNamespace())
		}
	}
	return all
}

func decoded[O any](t *testing.T, object *unstructured.Unstructured) *O {
	t.Helper()
	text, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	into := new(O)
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return into
}

func (m made) flags(arguments []string, namespace string) {
	for _, argument := range arguments {
		name, isFlag := strings.CutPrefix(argument, "--")
		name, value, hasValue := strings.Cut(name, "=")
		if !hasValue {
			value = "true"
		}
		if isFlag && !slices.Contains(running, name) {
			m.Flags[name] = strings.ReplaceAll(value, "$(POD_NAMESPACE)", namespace)
		}
	}
}

// byMigrate is what sluice migrate makes of values.
func byMigrate(t *testing.T, values map[string]any) made {
	t.Helper()
	text, err := kyaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	v, err := migrate.ReadValues(text)
	if err != nil {
		t.Fatal(err)
	}
	all := newMade()
	all.flags(v.Arguments(), "")
	for _, o := range v.Objects.ConfigMaps {
		all.configMap(o)
	}
	for _, o := range v.Objects.IngressClasses {
		all.class(o)
	}
	for _, o := range v.Objects.Services {
		all.service(o)
	}
	return all
}

// deciding recognises in effects.txt a value that changes a flag, or one of the objects above.
var deciding = regexp.MustCompile(`(?m)- --|^  .*(ConfigMap|IngressClass|Service \S*-defaultbackend\b)`)

// decidingValues are sets of values, each with one that decides.
func decidingValues(t *testing.T) map[string]map[string]any {
	t.Helper()
	sets := map[string]map[string]any{}
	for name, text := range map[string]string{
		"none": "", "everything": everything(t),
		"names": "{rbac: {scope: true}, controller: {scope: {enabled: true}, ingressClass: other, ingressClassResource: {name: inner, aliases: [nginx, third]}}}",
		"flags": `{tcp: {"5432": null}, controller: {config: {a: null}, extraArgs: {disable-catch-all: "", configmap: edge/own, v: null}}}`,
	} {
		values, err := rendering.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		sets[name] = values
	}
	effects, err := os.ReadFile("testdata/effects.txt") // which TestEachValueHasItsEffect keeps fresh
	if err != nil {
		t.Fatal(err)
	}
	decides := map[string]bool{}
	for section := range strings.SplitSeq(string(effects), "\n\n") {
		name, _, _ := strings.Cut(section, ":")
		decides[name] = deciding.MatchString(section)
	}
	for _, v := range readValues(t).leaves() {
		if decides[v.name()] {
			values := with(t, v.name())
			set(values, v.path, sampleOf(t, v))
			sets[v.name()] = values
		}
	}
	return sets
}

// TestMigrateMakesWhatTheChartMakes: sluice migrate makes the same flags and objects of
// values as the chart.
func TestMigrateMakesWhatTheChartMakes(t *testing.T) {
	t.Parallel()
	sets := decidingValues(t)
	if len(sets) < 40 || len(sets) > 100 {
		t.Errorf("%d sets of values", len(sets))
	}
	for name, values := range sets {
		if values["nameOverride"] == nil {
			values["nameOverride"] = "ingress-nginx" // as the other chart has this name
		}
		if diff := cmp.Diff(byChart(t, values), byMigrate(t, values)); diff != "" {
			t.Errorf("%s (-chart +migrate):\n%s", name, diff)
		}
	}
}

// refusedBy are the values and flags that sluice migrate says the chart refuses.
func refusedBy(t *testing.T, values map[string]any) (refused []string) {
	t.Helper()
	text, err := kyaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	v, err := migrate.ReadValues(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range v.Given {
		isSetting := strings.HasPrefix(a.Name, "controller.config.") // the chart takes any name
		if a.Fate == migrate.Refused || a.Fate == migrate.Unknown && !isSetting {
			refused = append(refused, a.Name+": "+a.Text)
		}
	}
	for name, value := range v.Extra {
		if fault := migrate.FlagFault(name, value); fault != "" {
			refused = append(refused, name+": "+fault)
		}
	}
	return refused
}

// TestMigrateRefusesWhatTheChartRefuses: values of a wrong type or name, and flags with which no
// pod starts; and nothing that the chart takes.
func TestMigrateRefusesWhatTheChartRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"controller: 3", "controller: {replicaCount: three}", "controller: {service: [1]}", "controller: {extraArgs: [a]}", "controller: {extraArgs: {v: [2]}}", "controller: {kind: Pod}",
		"controller: {config: {proxy-body-size: [8m]}}", "controller: {replicaCont: 2}", `tcp: {"80": web}`, "tcp: {http: shop/web:80}", "controller: {extraArgs: {default-ssl-certificate: wildcard}}",
		"controller: {extraArgs: {disable-catch-all: maybe}}", "controller: {extraArgs: {http-port: many}}",
	} {
		values, err := rendering.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rendering.Default().Render(text); err == nil {
			t.Errorf("%s: the chart takes it", text)
		}
		if len(refusedBy(t, values)) == 0 {
			t.Errorf("%s: sluice migrate takes it", text)
		}
	}
	for name, values := range decidingValues(t) {
		if refused := refusedBy(t, values); len(refused) > 0 {
			t.Errorf("%s: the chart takes it, and sluice migrate refuses %q", name, refused)
		}
	}
}
