package chart

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"golang.org/x/tools/txtar"

	"sluice/test/chart/rendering"
)

// everything are the values that switch on whatever can be.
func everything(t testing.TB) string {
	t.Helper()
	set, err := txtar.ParseFile("testdata/sets/everything.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return section(set, valuesSection)
}

// TestNamesAreNeverTooLong: with the longest name that a release can have, and a
// longer one in fullnameOverride, each name is one of a Service, and no two
// objects of a kind have the same.
func TestNamesAreNeverTooLong(t *testing.T) {
	t.Parallel()
	for _, override := range []string{"", "fullnameOverride: " + strings.Repeat("long-", 30) + "name\n"} {
		release := rendering.Default()
		release.Name = strings.Repeat("a-release-", 5) + "abc"
		r, err := release.Render(override + everything(t))
		if err != nil {
			t.Fatal(err)
		}
		longest := 0
		for name := range byName(t, r.Objects) { // which says what is there twice
			bare := name[strings.LastIndexAny(name, " /")+1:]
			longest = max(longest, len(bare))
			if len(bare) > 63 || strings.HasSuffix(bare, "-") {
				t.Errorf("%s: the name has %d characters", name, len(bare))
			}
		}
		if longest < 60 {
			t.Errorf("the longest name has %d characters, so that nothing was cut", longest)
		}
	}
}

// TestOlderKubernetes: what an older API server does not know is left out, and one
// that is too old is refused.
func TestOlderKubernetes(t *testing.T) {
	t.Parallel()
	values := "controller: {service: {trafficDistribution: PreferClose}, resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}"
	for version, want := range map[string]string{"v1.25.0": "", "v1.31.2-eks-1": "trafficDistribution", "v1.33.0": "trafficDistribution resizePolicy"} {
		release := rendering.Default()
		release.Kubernetes = version
		r, err := release.Render(values)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"trafficDistribution", "resizePolicy"} {
			if got := strings.Contains(r.Manifests, field+":"); got != strings.Contains(want, field) {
				t.Errorf("with %s: %s is there: %v", version, field, got)
			}
		}
	}
	release := rendering.Default()
	release.Kubernetes = "v1.24.9"
	if _, err := release.Render(""); err == nil || !strings.Contains(err.Error(), "1.25") {
		t.Errorf("Kubernetes 1.24: %v", err)
	}
}

// hostile is a text that would be more than a value, were it not quoted.
const hostile = "x\"'\n  injected: true\n- --kubeconfig=/tmp/x\n# {{ not a template }} $(POD_NAME) %s: {a: b}"

// TestHostileValuesStayValues: quotes, line ends and YAML in values come out as
// they went in, and make nothing besides.
func TestHostileValuesStayValues(t *testing.T) {
	t.Parallel()
	plain, err := rendering.Default().Render(everything(t))
	if err != nil {
		t.Fatal(err)
	}
	values, err := rendering.Parse(everything(t))
	if err != nil {
		t.Fatal(err)
	}
	// Templates are evaluated in settings, so that this one is not one there.
	inSettings := strings.NewReplacer("{{", "{ {", "}}", "} }").Replace(hostile)
	places := map[string]string{
		"controller.config.proxy-body-size": inSettings, "controller.addHeaders.X-Frame-Options": hostile, "controller.configAnnotations.source": hostile,
		"controller.podAnnotations.rolled": hostile, "controller.annotations.a": hostile, "controller.service.annotations.a": inSettings,
		"controller.extraArgs.default-ssl-certificate": hostile, "controller.ingressClass": hostile, "controller.image.tag": hostile,
		"controller.scope.namespaceSelector": hostile, "controller.electionID": hostile, "controller.healthCheckHost": hostile,
		"controller.publishService.pathOverride": "a/" + hostile, "controller.ingressClassResource.controllerValue": hostile,
		"controller.metrics.serviceMonitor.scrapeInterval": hostile, "controller.containerName": hostile, "controller.hostname": hostile,
		"defaultBackend.image.repository": hostile, "defaultBackend.extraArgs.verbose": hostile, "commonLabels.team": hostile,
		"serviceAccount.annotations.a": hostile, "namespaceOverride": "own",
	}
	if _, err := rendering.Default().RenderValues(map[string]any{"tcp": map[string]any{"5432": inSettings}}); err == nil || !strings.Contains(err.Error(), "'/tcp/5432'") {
		t.Errorf("a TCP service that is none is taken: %v", err)
	}
	for key, text := range places {
		set(values, strings.Split(key, "."), text)
	}
	r, err := rendering.Default().RenderValues(values)
	if err != nil {
		t.Fatal(err)
	}
	kinds := func(objects []*unstructured.Unstructured) (all []string) {
		for _, o := range objects {
			all = append(all, o.GetKind())
			if slices.ContainsFunc(keysBelow(o.Object), func(key string) bool { return strings.Contains(key, "injected") }) {
				t.Errorf("%s %s has a key of the value", o.GetKind(), o.GetName())
			}
		}
		slices.Sort(all)
		return slices.DeleteFunc(all, func(kind string) bool { return kind == "Role" || kind == "RoleBinding" }) // their namespaces are others
	}
	if was, is := kinds(plain.Objects), kinds(r.Objects); !slices.Equal(was, is) {
		t.Errorf("the objects were %q, and are %q", was, is)
	}
	text, err := yaml.Marshal(r.Objects)
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	typed(t, r.Objects, "Deployment", "sluice-controller", deployment)
	for _, argument := range []string{"--ingress-class=" + hostile, "--default-ssl-certificate=" + hostile, "--watch-namespace-selector=" + hostile, "--election-id=" + hostile} {
		if !slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, argument) {
			t.Errorf("the arguments have no %q:\n%s", argument, text)
		}
	}
	settings := &corev1.ConfigMap{}
	typed(t, r.Objects, "ConfigMap", "sluice-controller", settings)
	if settings.Data["proxy-body-size"] != inSettings || settings.Annotations["source"] != hostile {
		t.Errorf("the ConfigMap is %v, %v", settings.Annotations, settings.Data)
	}
}

// keysBelow are all keys of an object.
func keysBelow(o any) (all []string) {
	switch o := o.(type) {
	case map[string]any:
		for key, value := range o {
			all = append(append(all, key), keysBelow(value)...)
		}
	case []any:
		for _, value := range o {
			all = append(all, keysBelow(value)...)
		}
	}
	return all
}

// typed gives one object.
func typed(t testing.TB, objects []*unstructured.Unstructured, kind, name string, into any) {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind && o.GetName() == name {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, into, true); err != nil {
				t.Fatalf("%s %s: %v", kind, name, err)
			}
			return
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
}

// TestLabelsOfUsersDoNotChangeSelectors: a pod has the labels that selectors look
// for, whatever else is said.
func TestLabelsOfUsersDoNotChangeSelectors(t *testing.T) {
	t.Parallel()
	r, err := rendering.Default().Render("{commonLabels: {app.kubernetes.io/name: a, app.kubernetes.io/version: b}, controller: {labels: {app.kubernetes.io/instance: c}, podLabels: {app.kubernetes.io/component: d}}}")
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	typed(t, r.Objects, "Deployment", "sluice-controller", deployment)
	for label, value := range deployment.Spec.Selector.MatchLabels {
		if got := deployment.Spec.Template.Labels[label]; got != value {
			t.Errorf("the pods' label %s is %q, want %q", label, got, value)
		}
	}
	if deployment.Labels["app.kubernetes.io/version"] != "b" {
		t.Errorf("the labels are %q", deployment.Labels)
	}
}

// TestRefused: what would be less safe or not work is refused, with what to do.
func TestRefused(t *testing.T) {
	t.Parallel()
	for values, says := range map[string]string{
		"controller: {extraArgs: {htp-port: 8080}}": "controller.extraArgs.htp-port: want a flag of `sluice run`",
		"controller: {extraArgs: {enable-ssl-passthrough: maybe, default-ssl-certificate: foo, http-port: http, htp-port: 80}, publishService: {pathOverride: edge}}": "no pod would start with these flags:\n- controller.extraArgs.htp-port: want a flag of `sluice run`, without dashes; neither Sluice nor ingress-nginx has this one; did you mean \"http-port\"?\n" +
			"- controller.extraArgs.default-ssl-certificate: want NAMESPACE/NAME (got \"foo\")\n- controller.extraArgs.enable-ssl-passthrough: want true or false (got \"maybe\")\n- controller.extraArgs.http-port: want a whole number (got \"http\")\n- --publish-service: want NAMESPACE/NAME (got \"edge\")",
		"{tcp: {\"80\": shop/a:1}, controller: {extraArgs: {http-port: 8080}}}":                                                 "tcp.80: want another port: the Service has 80/TCP for http.",
		"{tcp: {\"8443\": shop/a:1}, controller: {service: {internal: {enabled: true, type: NodePort, ports: {https: 8443}}}}}": "tcp.8443: want another port: the Service has 8443/TCP for https.",
		"{tcp: {\"80\": shop/a:1}, controller: {service: {enabled: false}}}":                                                    "tcp.80: want another port: 80 is that of --http-port.",
		"{udp: {\"8443\": shop/a:1}, controller: {admissionWebhooks: {port: 9443}, extraArgs: {https-port: 8443}}}":             "udp.8443: want another port: 8443 is that of --https-port.",
		"tcp: {\"10254\": shop/a:1}": "tcp.10254: want another port: 10254 is that of --healthz-port.",
		"controller: {customTemplate: {configMapName: t, configMapKey: nginx.tmpl}}":                   "controller.customTemplate: Sluice's templates are others",
		"controller: {image: {image: ingress-nginx/controller}}":                                       "controller.image: ingress-nginx/controller is ingress-nginx",
		"controller: {image: {repository: a.example/ingress-nginx/controller}}":                        "is ingress-nginx, not Sluice",
		"controller: {image: {repository: a.example/ingress-nginx-controller}}":                        "is ingress-nginx, not Sluice",
		"controller: {image: {repository: a.example/ingress-nginx/controller-chroot}}":                 "is ingress-nginx, not Sluice",
		"controller: {image: {repository: a.example/rancher/nginx-ingress-controller}}":                "is ingress-nginx, not Sluice",
		"controller: {image: {registry: a.example/ingress-nginx, image: controller}}":                  "controller.image: a.example/ingress-nginx/controller is ingress-nginx",
		"controller: {image: {registry: registry.k8s.io}}":                                             "controller.image: registry.k8s.io/sluice: Sluice's image is not at that registry",
		"global: {image: {registry: registry.k8s.io}}":                                                 "controller.image: registry.k8s.io/sluice: Sluice's image is not at that registry",
		"controller: {extraArgs: {https-port: 8443}}":                                                  "controller.admissionWebhooks.port: want another port: 8443 is that of --https-port",
		"{tcp: {\"8443\": shop/a:1}}":                                                                  "tcp.8443: want another port: 8443 is that of --validating-webhook",
		"rbac: {scope: true}":                                                                          "rbac.scope: want controller.scope.enabled: true",
		"controller: {autoscaling: {enabled: true}, keda: {enabled: true}}":                            "want one of the two",
		"controller: {scope: {enabled: true}, extraArgs: {watch-namespace-selector: team=web}}":        "want one namespace or a selector",
		"{portNamePrefix: long-name, tcp: {\"5432\": shop/a:1}}":                                       "portNamePrefix: the name long-name-5432-tcp",
		"{portNamePrefix: \"123456\", udp: {\"9000\": shop/a:1, \"10000\": shop/a:1}}":                 "want up to 15 characters (got 16)",
		"controller: {image: {runAsUser: 0, runAsNonRoot: false}}":                                     "controller.image.runAsUser: want the number of a user that is not root",
		"controller: {terminationGracePeriodSeconds: 30, extraArgs: {post-shutdown-grace-period: 60}}": "controller.terminationGracePeriodSeconds: want 67 or more",
	} {
		_, err := rendering.Default().Render(values)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: want an error that says %q (got %v)", values, says, err)
		}
	}
	for _, values := range []string{
		"controller: {extraArgs: {disable-svc-external-name: true}}",
		"controller: {extraArgs: {shutdown-grace-period: 200}}",
		"controller: {extraArgs: {enable-ssl-passthrough: T, update-status: $(WRITES), default-ssl-certificate: \"$(POD_NAMESPACE)/a.b\", tcp-services-configmap: \"\"}}",
		"{tcp: {\"80\": shop/a:1}, controller: {service: {enabled: false}, extraArgs: {http-port: 8080}}}",
		"{tcp: {\"80\": shop/a:1}, udp: {\"8443\": shop/a:1}, controller: {admissionWebhooks: {enabled: false}, service: {ports: {http: 8080, https: 8443}, enableHttp: false}, extraArgs: {http-port: 8000}}}",
		"{global: {image: {registry: registry.k8s.io}}, controller: {image: {repository: registry.example/sluice}}}",
		"controller: {image: {repository: registry.example/ingress-nginx/sluice}}",
		"controller: {image: {runAsUser: 0}, containerSecurityContext: {runAsUser: 0}}",
	} {
		if _, err := rendering.Default().Render(values); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// flagsFile is flags.yaml.
type flagsFile struct {
	Switches      []string          `json:"switches"`
	Valued        []string          `json:"valued"`
	Values        []wanted          `json:"values"`
	WithoutEffect map[string]string `json:"withoutEffect"`
}

// wanted says which values some flags have.
type wanted struct {
	Want    string   `json:"want"`
	Pattern string   `json:"pattern"`
	Flags   []string `json:"flags"`
}

func readFlags(t testing.TB) (f flagsFile) {
	t.Helper()
	if err := yaml.UnmarshalStrict(chartFile(t, "flags.yaml"), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFlagsAreThoseOfSluice: extraArgs may have each flag of sluice run, and each
// of ingress-nginx has a fate.
func TestFlagsAreThoseOfSluice(t *testing.T) {
	t.Parallel()
	f := readFlags(t)
	command := exec.Command("go", "run", "./cmd/sluice", "run", "--help")
	command.Dir = rendering.Root()
	help, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var switches, valued, numbers, references []string
	for line := range strings.Lines(string(help)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "--") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "--")
		if strings.HasPrefix(strings.TrimPrefix(strings.TrimLeft(line, " "), fields[0]), "   ") || !slices.Contains([]string{"string", "strings", "int", "float", "float32", "duration"}, fields[1]) {
			switches = append(switches, name)
		} else {
			valued = append(valued, name)
		}
		switch {
		case fields[1] == "int":
			numbers = append(numbers, name)
		case strings.Contains(line, "as NAMESPACE/NAME"):
			references = append(references, name)
		}
	}
	for i, flags := range [][]string{switches, numbers, references} {
		if got := f.Values[i]; !slices.Equal(got.Flags, flags) {
			t.Errorf("of sluice run, %q want %s, and flags.yaml has %q", flags, got.Want, got.Flags)
		}
	}
	if !slices.Equal(switches, f.Switches) || !slices.Equal(valued, f.Valued) {
		t.Errorf("sluice run has the switches %q and the valued flags %q, and flags.yaml has %q and %q", switches, valued, f.Switches, f.Valued)
	}
	known, err := os.ReadFile("testdata/ingress-nginx-flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(known)) {
		ours := slices.Contains(f.Switches, name) || slices.Contains(f.Valued, name)
		if none := f.WithoutEffect[name] != ""; ours == none {
			t.Errorf("--%s of ingress-nginx: want it in one list of flags.yaml", name)
		}
	}
	for name, reason := range f.WithoutEffect {
		r, err := rendering.Default().Render("controller: {extraArgs: {" + name + ": \"1\"}}")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.Manifests, "--"+name+"=") || !strings.Contains(r.Notes, "controller.extraArgs."+name+":\n  "+reason) {
			t.Errorf("--%s is not left out, or the notes do not tell it", name)
		}
	}
}
