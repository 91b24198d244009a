package migrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/lint"
	"sluice/internal/manifest/decode"
	"sluice/internal/snapshot"
)

// release is the name of the chart's usual release, and its namespace. Values name neither.
const release = "ingress-nginx"

// tree is a tree of values.
type tree map[string]any

// at returns the value at names with dots between them, nil if there is none.
func (t tree) at(names string) any {
	var value any = map[string]any(t)
	for name := range strings.SplitSeq(names, ".") {
		below, _ := value.(map[string]any)
		value = below[name]
	}
	return value
}

// text returns a scalar, "" if there is none.
func (t tree) text(names string) string {
	if value := t.at(names); value != nil {
		return fmt.Sprint(value)
	}
	return ""
}

// on reports whether a switch is on.
func (t tree) on(names string) bool { return t.text(names) == "true" }

// texts returns the scalars of a map. A null is left out, as in the chart.
func (t tree) texts(names string) map[string]string {
	below, _ := t.at(names).(map[string]any)
	texts := map[string]string{}
	for name, value := range below {
		if value != nil {
			texts[name] = fmt.Sprint(value)
		}
	}
	return texts
}

// list returns the texts of a list.
func (t tree) list(names string) (texts []string) {
	items, _ := t.at(names).([]any)
	for _, item := range items {
		texts = append(texts, fmt.Sprint(item))
	}
	return texts
}

// namespace is that of the chart's objects.
func (t tree) namespace() string { return cmp.Or(t.text("namespaceOverride"), release) }

// named returns the name of an object with an ending.
func (t tree) named(ending string) snapshot.Name {
	name := release
	if own := t.text("nameOverride"); !strings.Contains(release, own) {
		name += "-" + own
	}
	return snapshot.Name{Namespace: t.namespace(), Name: cmp.Or(t.text("fullnameOverride"), name) + "-" + ending}
}

// fromChart makes the flags and objects of values as charts/sluice/templates/_flags.tpl and its
// neighbours do. TestMigrateMakesWhatTheChartMakes of test/chart compares the two.
func (v *Values) fromChart(t tree) {
	v.makeSettings(t)
	v.makeStreams(t)
	v.makeClasses(t)
	v.makeDefaultBackend(t)
	v.makeScope(t)
	for name, flag := range map[string]string{
		"watchIngressWithoutClass": "watch-ingress-without-class", "ingressClassByName": "ingress-class-by-name", "enableTopologyAwareRouting": "enable-topology-aware-routing",
		"metrics.enabled": "enable-metrics",
	} {
		if t.on("controller." + name) {
			v.Flags[flag] = "true"
		}
	}
	v.makeFolders(t)
	if path := t.text("controller.healthCheckPath"); path != "" && path != "/healthz" {
		v.Flags["health-check-path"] = path
	}
}

// makeFolders finds the folders of further volumes, and those of Sluice's chart with a limit of
// the values, by a Deployment that has them.
func (v *Values) makeFolders(t tree) {
	mounts, _ := t.at("controller.extraVolumeMounts").([]any)
	volumes, _ := t.at("controller.extraVolumes").([]any)
	for _, folder := range lint.ChartFolders {
		if limit := t.at("controller." + lint.LimitValues[folder.Path]); limit != nil {
			mounts = append(mounts, tree{"name": folder.Path, "mountPath": folder.Path})
			volumes = append(volumes, tree{"name": folder.Path, "emptyDir": tree{"sizeLimit": limit}})
		}
	}
	container := tree{"args": []string{"/nginx-ingress-controller"}, "volumeMounts": mounts}
	pod := tree{"initContainers": t.at("controller.extraInitContainers"), "containers": []tree{container}, "volumes": volumes}
	text, err := json.Marshal(tree{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": tree{"name": release}, "spec": tree{"template": tree{"spec": pod}}})
	if err != nil {
		return // values of YAML are values of JSON
	}
	_, notes, _ := decode.FromYAML("", text) // what does not decode has no folders
	for _, note := range notes {
		v.Folders = append(v.Folders, note.Folders...)
	}
}

// makeSettings makes the ConfigMap of the settings, and those of headers.
func (v *Values) makeSettings(t tree) {
	name := t.named(cmp.Or(t.text("controller.name"), "controller"))
	v.Flags["configmap"] = cmp.Or(t.text("controller.configMapNamespace"), name.Namespace) + "/" + name.Name
	if t.on("controller.allowSnippetAnnotations") {
		v.Settings["allow-snippet-annotations"] = "true"
	}
	for setting, of := range map[string]struct{ value, ending string }{
		"add-headers":       {"controller.addHeaders", "custom-add-headers"},
		"proxy-set-headers": {"controller.proxySetHeaders", "custom-proxy-headers"},
	} {
		if headers := t.texts(of.value); len(headers) > 0 {
			v.Settings[setting] = t.named(of.ending).String()
			v.configMap(t.named(of.ending), headers)
		}
	}
	v.configMap(name, v.Settings)
}

// makeStreams makes the ConfigMaps of TCP and UDP services.
func (v *Values) makeStreams(t tree) {
	for _, protocol := range []string{"tcp", "udp"} {
		if ports := t.texts(protocol); len(ports) > 0 {
			name := t.named(protocol)
			v.configMap(name, ports)
			name.Namespace = cmp.Or(t.text("controller."+protocol+".configMapNamespace"), name.Namespace)
			v.Flags[protocol+"-services-configmap"] = name.String()
		}
	}
}

func (v *Values) configMap(name snapshot.Name, data map[string]string) {
	v.Objects.ConfigMaps = append(v.Objects.ConfigMaps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Data: data})
}

// makeClasses makes the IngressClasses, and the flags that select them.
func (v *Values) makeClasses(t tree) {
	const resource = "controller.ingressClassResource."
	given := t.texts(strings.TrimSuffix(resource, "."))
	controllerClass := cmp.Or(given["controllerValue"], "k8s.io/ingress-nginx")
	names := append([]string{cmp.Or(given["name"], "nginx")}, t.list(resource+"aliases")...)
	v.Flags["controller-class"] = controllerClass
	v.Flags["ingress-class"] = cmp.Or(t.text("controller.ingressClass"), "nginx")
	if t.on("rbac.scope") { // IngressClasses cannot be read, so that names decide
		all := slices.Clone(names)
		if own := v.Flags["ingress-class"]; own != "nginx" {
			all = append(all, own)
		}
		v.Flags["ingress-class"] = strings.Join(unique(all), ",")
	}
	if given["enabled"] == "false" {
		return
	}
	for i, name := range unique(names) {
		class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: controllerClass, Parameters: parametersOf(t.texts(resource + "parameters"))}}
		if i == 0 && given["default"] == "true" {
			class.Annotations = map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}
		}
		v.Objects.IngressClasses = append(v.Objects.IngressClasses, class)
	}
}

// unique leaves out what is there twice.
func unique(names []string) (once []string) {
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// parametersOf makes the reference of a class to its settings, nil for none.
func parametersOf(given map[string]string) *networkingv1.IngressClassParametersReference {
	if len(given) == 0 {
		return nil
	}
	field := func(name string) *string {
		if text, is := given[name]; is {
			return &text
		}
		return nil
	}
	return &networkingv1.IngressClassParametersReference{APIGroup: field("apiGroup"), Kind: given["kind"], Name: given["name"], Scope: field("scope"), Namespace: field("namespace")}
}

// makeDefaultBackend makes the Service of the default backend.
func (v *Values) makeDefaultBackend(t tree) {
	if !t.on("defaultBackend.enabled") {
		return
	}
	name := t.named(cmp.Or(t.text("defaultBackend.name"), "defaultbackend"))
	port, _ := strconv.ParseInt(cmp.Or(t.text("defaultBackend.service.servicePort"), "80"), 10, 32) // the schema takes numbers only
	v.Flags["default-backend-service"] = name.String()
	v.Objects.Services = append(v.Objects.Services, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: int32(port)}}},
	})
}

// makeScope makes the flags that select namespaces.
func (v *Values) makeScope(t tree) {
	if t.on("controller.scope.enabled") {
		v.Flags["watch-namespace"] = cmp.Or(t.text("controller.scope.namespace"), t.namespace())
	} else if selector := t.text("controller.scope.namespaceSelector"); selector != "" {
		v.Flags["watch-namespace-selector"] = selector
	}
}
