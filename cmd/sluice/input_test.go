package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/lint"
)

const settingsMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sluice, namespace: shop}\ndata: {proxy-read-timeout: \"77\"}\n"

// web is an Ingress of a class, with its Service, and all is well with it.
func web(class string) string {
	return shop["class.yaml"] + "---\n" + strings.ReplaceAll(strings.Split(manifests, "---")[0], "ingressClassName: nginx", "ingressClassName: "+class)
}

// deployed is the Deployment of a controller with these arguments.
func deployed(name string, arguments ...string) string {
	return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", namespace: ingress}\n" +
		"spec: {template: {spec: {containers: [{name: controller, args: ['/nginx-ingress-controller', '" + strings.Join(arguments, "', '") + "']}]}}}\n"
}

// said are the lines on which commands say where flags and settings are from.
func said(errors string) string {
	var lines []string
	for line := range strings.Lines(errors) {
		if strings.HasPrefix(line, "settings: ") || strings.HasPrefix(line, "flags: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// The commands that read manifests find the same settings and flags, and say so alike.
func TestInputIsReadAlike(t *testing.T) {
	t.Parallel()
	const none = "settings: not known, as no ConfigMap is found: the defaults are assumed; --configmap names it\n"
	internal := "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: internal}\nspec: {controller: example.org/internal}\n"
	for name, test := range map[string]struct {
		manifests string
		flags     []string
		says      string
		has       string // of what is rendered
	}{
		"nothing":                   {web("nginx"), nil, none, "server_name shop.example;"},
		"by its name":               {web("nginx") + "---\n" + settingsMap, nil, "settings: ConfigMap shop/sluice, by its name\n", "proxy_read_timeout 77s;"},
		"by the command line":       {web("nginx") + "---\n" + settingsMap, []string{"--configmap", "shop/sluice"}, "", "proxy_read_timeout 77s;"},
		"by the Deployment":         {web("nginx") + "---\n" + settingsMap + deployed("a", "--configmap=shop/sluice"), nil, "flags: --configmap=shop/sluice, which Deployment ingress/a gives\nsettings: ConfigMap shop/sluice, which Deployment ingress/a names\n", "proxy_read_timeout 77s;"},
		"one that is not there":     {web("nginx") + "---\n" + settingsMap + deployed("a", "--configmap=$(POD_NAMESPACE)/x"), nil, "flags: --configmap=ingress/x, which Deployment ingress/a gives\nsettings: ConfigMap ingress/x, which Deployment ingress/a names, is not among the manifests: all have their defaults\n", "proxy_read_timeout 60s;"},
		"the Deployment names none": {web("nginx") + "---\n" + settingsMap + deployed("a", "--http-port=80"), nil, "settings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "proxy_read_timeout 60s;"},
		"the command line wins":     {web("nginx") + "---\n" + settingsMap + deployed("a", "--configmap=a/b"), []string{"--configmap", "shop/sluice"}, "", "proxy_read_timeout 77s;"},
		"the class":                 {web("internal") + deployed("a", "--ingress-class=internal", "--v=2"), nil, "flags: --ingress-class=internal, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"classes one by one":        {web("internal") + deployed("a", "--ingress-class=other", "--ingress-class", "internal"), nil, "flags: --ingress-class=other,internal, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"the controller class":      {web("internal") + internal + deployed("a", "--controller-class=example.org/internal"), nil, "flags: --controller-class=example.org/internal, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"the class by its name":     {web("internal") + internal + deployed("a", "--ingress-class-by-name", "--ingress-class=internal"), nil, "flags: --ingress-class=internal --ingress-class-by-name=true, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"without a class":           {strings.ReplaceAll(web("x"), "  ingressClassName: x\n", "") + deployed("a", "--watch-ingress-without-class=true"), nil, "flags: --watch-ingress-without-class=true, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"the namespace":             {web("nginx") + deployed("a", "--watch-namespace=shop"), nil, "flags: --watch-namespace=shop, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"the default backend":       {web("nginx") + deployed("a", "--default-backend-service=shop/web"), nil, "flags: --default-backend-service=shop/web, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "set $route shop/-/web/_default;"},
		"two alike":                 {web("internal") + deployed("b", "--ingress-class=internal") + deployed("a", "--ingress-class=internal", "--http-port=8080"), nil, "flags: --ingress-class=internal, which Deployment ingress/a gives\nsettings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"two, and the command line": {web("internal") + deployed("b", "--ingress-class=b") + deployed("a", "--ingress-class=a"), []string{"--ingress-class", "internal"}, "settings: Deployment ingress/a names no ConfigMap: all have their defaults\n", "server_name shop.example;"},
		"two that differ":           {web("nginx") + deployed("b", "--ingress-class=b") + deployed("a", "--configmap=a/b"), nil, "flags: Deployment ingress/a: Deployment ingress/b runs a controller, too, and their flags differ, so that neither's count: want --configmap, --ingress-class on the command line, or the manifests of one of them\n" + none, "server_name shop.example;"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, map[string]string{"all.yaml": test.manifests})
			for _, command := range [][]string{{"lint"}, {"render"}, {"explain", "shop.example/cart"}} {
				got := process(t, dir, "", append(append(command, "-f", "."), test.flags...)...)
				if diff := cmp.Diff(test.says, said(got.Errors)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", command[0], diff)
				}
				if command[0] == "render" && !strings.Contains(got.Out, test.has) {
					t.Errorf("%s is not in what is rendered", test.has)
				}
				if command[0] == "explain" && !strings.Contains(got.Out, "Ingress shop/web") {
					t.Errorf("explain says\n%s", got.Out)
				}
			}
		})
	}
}

// namespaceShop is the Namespace of the shop, with a label.
const namespaceShop = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\n"

// Only Ingresses of Namespaces that are selected are served.
func TestSelectorOfNamespaces(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"all.yaml": web("nginx") + namespaceShop})
	for selector, want := range map[string]int{"team=a": 0, "team in (a,b)": 0, "team!=a": 1, "kubernetes.io/metadata.name=shop": 0, "!team": 1} {
		got := process(t, dir, "", "lint", "-f", ".", "--watch-namespace-selector", selector)
		rendered := process(t, dir, "", "render", "-f", ".", "--watch-namespace-selector", selector)
		if got.Status != want || strings.Contains(rendered.Out, "server_name shop.example;") != (want == 0) {
			t.Errorf("%s: %+v", selector, got)
		}
	}
	const both = "sluice: --watch-namespace and --watch-namespace-selector: want one of the two (got both)\n"
	if got := process(t, dir, "", "lint", "-f", ".", "--watch-namespace-selector", "!team"); !strings.HasSuffix(got.Errors, "\n1 Ingress, 0 of a served class and namespace: 1 error, 0 warnings, 1 note\n") {
		t.Errorf("%+v", got)
	}
	if got := process(t, dir, "", "lint", "-f", ".", "--watch-namespace=a", "--watch-namespace-selector=a"); got.Status != 2 || !strings.HasPrefix(got.Errors, both) {
		t.Errorf("%+v", got)
	}
}

// A ConfigMap that must be there and is not closes every path, as in the controller.
func TestRequiredConfigMap(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"all.yaml": web("nginx") + deployed("a", "--configmap=$(POD_NAMESPACE)/x", "--require-configmap=true")})
	got := process(t, dir, "", "explain", "shop.example/cart", "-f", ".", "--short")
	if want := "settings: ConfigMap ingress/x, which Deployment ingress/a names, is not among the manifests: every path answers 503\n"; !strings.HasPrefix(got.Out, "503") || !strings.HasSuffix(got.Errors, want) {
		t.Errorf("%+v", got)
	}
	got = process(t, folder(t, map[string]string{"all.yaml": web("nginx")}), "", "lint", "-f", ".", "--require-configmap")
	if want := "sluice: --require-configmap: want the name of the ConfigMap in --configmap (got none)\n"; got.Status != 2 || !strings.HasPrefix(got.Errors, want) {
		t.Errorf("%+v", got)
	}
}

// Objects in JSON that follow each other, as jq prints them, are all read, each with its
// line.
func TestStreamOfJSON(t *testing.T) {
	t.Parallel()
	ingress := func(name string) string {
		return `{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "` + name + `"}, "spec": {"ingressClassName": "nginx", "defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}}` + "\n"
	}
	got := process(t, t.TempDir(), ingress("a")+ingress("b")+ingress("c"), "lint", "-f", "-")
	if !strings.Contains(got.Errors, "\n3 Ingresses: ") {
		t.Error(got.Errors)
	}
	for _, want := range []string{"stdin:1: error: Ingress default/a: ", "stdin:2: error: Ingress default/b: ", "stdin:3: error: Ingress default/c: "} {
		if !strings.Contains("\n"+got.Out, "\n"+want) {
			t.Errorf("want %s in\n%s", want, got.Out)
		}
	}
}

// A pipe is read, as shells make one of <(helm template .).
func TestPipesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := os.WriteFile(pipe, []byte(web("nginx")), 0o600); err != nil {
			t.Error(err)
		}
	}()
	const want = noSettings + "1 Ingress: 0 errors, 0 warnings, 0 notes\n"
	if got := process(t, dir, "", "lint", "-f", "pipe"); got.Errors != want {
		t.Errorf("%+v", got)
	}
	if got := process(t, dir, web("nginx"), "lint", "-f", "/dev/stdin"); got.Errors != want {
		t.Errorf("%+v", got)
	}
}

// Without an Ingress the configuration is printed, and standard error says so.
func TestRenderOfNoIngress(t *testing.T) {
	t.Parallel()
	got := process(t, t.TempDir(), "", "render", "-f", "/dev/null")
	if got.Status != 0 || !strings.HasSuffix(got.Errors, "no Ingress is among the manifests\n") {
		t.Errorf("%d: %s", got.Status, got.Errors)
	}
}

// A host that no rule has is named as such.
func TestRenderOfNoHost(t *testing.T) {
	t.Parallel()
	got := process(t, folder(t, map[string]string{"all.yaml": web("nginx")}), "", "render", "-f", ".", "--host", "nope")
	if want := "sluice: --host: want a host that a rule has (got \"nope\", which none has)\n"; got.Status != 1 || !strings.HasSuffix(got.Errors, want) {
		t.Errorf("%+v", got)
	}
}

// Where it cannot be told how manifests are served, or nothing of them is, lint finds it.
func TestLintHasNoFalseGreen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ manifests, finds string }{
		"two ConfigMaps":              {web("nginx") + "---\n" + settingsMap + "---\n" + strings.ReplaceAll(settingsMap, "shop", "office"), "all.yaml:26: error: ConfigMap office/sluice: 2 ConfigMaps could have the settings, such as office/sluice and shop/sluice: all have their defaults; --configmap names the right one [Several]"},
		"a ConfigMap that is missing": {web("nginx") + deployed("a", "--configmap=a/b"), "error: ConfigMap a/b: it does not exist: all settings have their defaults [NotFound]"},
		"two controllers":             {web("nginx") + deployed("a", "--ingress-class=a") + deployed("b", "--ingress-class=b"), "all.yaml:21: error: Deployment ingress/a: Deployment ingress/b runs a controller, too, and their flags differ, so that neither's count: want --ingress-class on the command line, or the manifests of one of them [Several]"},
		"a flag that is not valid":    {web("nginx") + deployed("a", "--configmap=b"), `all.yaml:21: error: Deployment ingress/a: --configmap: want NAMESPACE/NAME (got "b") [InvalidValue]`},
		"a boolean that is none":      {web("nginx") + deployed("a", "--disable-catch-all=maybe"), `all.yaml:21: error: Deployment ingress/a: --disable-catch-all: want true or false (got "maybe") [InvalidValue]`},
		"a flag of the environment":   {web("nginx") + deployed("a", "--ingress-class=$(CLASS)"), `all.yaml:21: error: Deployment ingress/a: --ingress-class: want a value that the manifests give (got "$(CLASS)"): give it on the command line [InvalidValue]`},
		"a flag without its value":    {web("nginx") + deployed("a", "--ingress-class"), "all.yaml:21: error: Deployment ingress/a: its arguments: flag needs an argument: --ingress-class [InvalidValue]"},
		"another class":               {web("nginx") + deployed("a", "--ingress-class=internal", "--controller-class=example.org/internal"), "error: no Ingress among the manifests is of a class and namespace that are served: want --ingress-class, --controller-class and --watch-namespace of their controller, or --allow-empty [Empty]"},
		"another namespace":           {web("nginx") + deployed("a", "--watch-namespace=office"), "error: no Ingress among the manifests is of a class and namespace that are served: want --ingress-class, --controller-class and --watch-namespace of their controller, or --allow-empty [Empty]"},
		"the default certificate":     {web("nginx") + deployed("a", "--default-ssl-certificate=a/b"), "error: Secret a/b: it does not exist and is to hold the default certificate: a self-signed one is presented [NotFound]"},
		"a controller's slip":         {strings.ReplaceAll(web("nginx"), "k8s.io/ingress-nginx", "k8s.io/ingres-nginx"), `all.yaml:1: warning: IngressClass nginx: spec.controller: "k8s.io/ingres-nginx" is not the --controller-class, so that no Ingress of this class is served; did you mean "k8s.io/ingress-nginx"? [NearClass]`},
		"the class of such a slip":    {strings.ReplaceAll(web("nginx"), "k8s.io/ingress-nginx", "k8s.io/ingres-nginx"), `all.yaml:12: warning: Ingress shop/web: spec.ingressClassName: its IngressClass "nginx" has the spec.controller "k8s.io/ingres-nginx", so that the Ingress is not served; did you mean "k8s.io/ingress-nginx"? [NearClass]`},
		"a slip in the old key":       {strings.NewReplacer("  ingressClassName: x\n", "", "namespace: shop}\nspec:\n", "namespace: shop, annotations: {kubernetes.io/ingress-class: nginx}}\nspec:\n").Replace(web("x")), `all.yaml:12: error: Ingress shop/web: spec.ingressClassName: the Ingress names no class, and no IngressClass is the default: want nginx, or --watch-ingress-without-class; did you mean "kubernetes.io/ingress.class"? [Unserved]`},
		"an unknown flag":             {web("nginx") + deployed("a", "--ingress-clas=internal"), `all.yaml:21: warning: Deployment ingress/a: --ingress-clas: neither Sluice nor ingress-nginx has this flag; did you mean "--ingress-class"? [Unread]`},
		"a ConfigMap that must be":    {web("nginx") + deployed("a", "--configmap=a/b", "--require-configmap"), "error: ConfigMap a/b: it does not exist, and --require-configmap is given: create it, empty for the defaults; every path that these settings apply to answers 503 until this is mended [NotFound]"},
		"one without a name":          {web("nginx") + deployed("a", "--require-configmap=true"), "all.yaml:21: error: Deployment ingress/a: --require-configmap: want the name of the ConfigMap in --configmap (got none) [InvalidValue]"},
		"a selector":                  {web("nginx") + namespaceShop + deployed("a", "--watch-namespace-selector=team=b"), "all.yaml:12: note: Ingress shop/web: metadata.namespace: it is not served: --watch-namespace-selector (team=b) does not select its Namespace [Unwatched]"},
		"a selector and no Namespace": {web("nginx") + deployed("a", "--watch-namespace-selector=team=b"), "warning: Namespace shop: metadata.labels: it is not among the manifests, so that it is not known whether --watch-namespace-selector (team=b) selects it: Ingresses there are taken as served [Unlabelled]"},
		"a selector that is none":     {web("nginx") + deployed("a", "--watch-namespace-selector=team=b=c"), "all.yaml:21: error: Deployment ingress/a: --watch-namespace-selector: want a selector of labels, such as team=web (got \"team=b=c\"): found '=', expected: ',' or 'end of string' [InvalidValue]"},
		"YAML behind JSON":            {"{}\n" + web("nginx"), `all.yaml:1: error: want "---" on a line between two objects (got more text after the first) [Unreadable]`},
		"a template of Helm":          {"{{- if .Values.ingress }}\n" + web("nginx") + "{{- end }}\n", "all.yaml:1: error: want a manifest (got a template of Helm): give the output of `helm template` [Unreadable]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := process(t, folder(t, map[string]string{"all.yaml": test.manifests}), "", "lint", "-f", "all.yaml")
			if got.Status != 1 || !strings.Contains("\n"+got.Out, "\n"+test.finds+"\n") {
				t.Errorf("status %d, want %s in\n%s", got.Status, test.finds, got.Out)
			}
		})
	}
}

// JSON says how the manifests are served, too.
func TestLintJSONSaysWhatWasUsed(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"all.yaml": web("internal") + "---\n" + settingsMap + deployed("a", "--ingress-class=internal,other", "--configmap=shop/sluice")})
	got := process(t, dir, "", "lint", "-f", ".", "-o", "json", "--disable-catch-all")
	var report lint.Report
	if err := json.Unmarshal([]byte(got.Out), &report); err != nil || got.Errors != "" {
		t.Fatalf("%v, %+v", err, got)
	}
	if report.Ingresses != 1 || report.Served != 1 || report.Settings != "settings: ConfigMap shop/sluice, which Deployment ingress/a names" ||
		report.Controller != "flags: --configmap=shop/sluice --ingress-class=internal,other, which Deployment ingress/a gives" {
		t.Errorf("got %+v", report)
	}
	for flag, want := range map[string]string{
		"ingress-class": "internal,other", "configmap": "shop/sluice", "disable-catch-all": "true", "controller-class": "k8s.io/ingress-nginx", "watch-namespace": "",
	} {
		if value, is := report.Flags[flag]; !is || value != want {
			t.Errorf("--%s is %q, want %q", flag, value, want)
		}
	}
	if _, is := report.Flags["filename"]; is {
		t.Error("the files are among the flags that decide what is served")
	}
}

// A file that two of the arguments name is read once.
func TestFilesAreReadOnce(t *testing.T) {
	t.Parallel()
	dir := folder(t, shop)
	for _, files := range [][]string{{"web.yaml", "."}, {".", "web.yaml"}, {".", filepath.Join(dir, "web.yaml")}, {".", dir}, {"class.yaml", "web.yaml", "./web.yaml"}} {
		arguments := []string{"lint"}
		for _, file := range files {
			arguments = append(arguments, "-f", file)
		}
		if got := process(t, dir, "", arguments...); !strings.HasSuffix(got.Errors, "\n2 Ingresses: 1 error, 1 warning, 1 note\n") {
			t.Errorf("%v: %+v", files, got)
		}
	}
}

// What is passed over though it was meant is said by all.
func TestPassedOverIsNotSilent(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.yaml": web("nginx") + "---\napiVersion: networking.k8s.io/v1\nkind: ingress\nmetadata: {name: b}\n"})
	const says = "not read: a.yaml: document 4: passed over: ingress networking.k8s.io/v1; what is read is Ingress networking.k8s.io/v1\n"
	for _, command := range [][]string{{"render"}, {"explain", "shop.example/cart"}} {
		got := process(t, dir, "", append(command, "-f", ".")...)
		if got.Status != 1 || !strings.Contains(got.Errors, says) || got.Out == "" {
			t.Errorf("%v: %+v", command, got)
		}
	}
}

// A chart is no manifest, and is named as a chart.
func TestAChartIsNoManifest(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"lint"}, {"render"}, {"explain", "shop.example/"}} {
		got := process(t, "../..", "", append(command, "-f", "charts/sluice")...)
		if want := "sluice: -f charts/sluice: want manifests (got a chart of Helm): give the output of `helm template`\n"; got.Status != 2 || !strings.HasPrefix(got.Errors, want) {
			t.Errorf("%v: %+v", command, got)
		}
	}
}

// Many findings are counted by their reasons; few are not.
func TestManyFindingsAreCounted(t *testing.T) {
	t.Parallel()
	text := web("nginx")
	for range 6 {
		text += "---\napiVersion: networking.k8s.io/v1\nkind: ingress\nmetadata: {name: a}\n---\nnothing: 1\n"
	}
	got := process(t, folder(t, map[string]string{"a.yaml": text}), "", "lint", "-f", ".")
	if want := noSettings + "by reason: 6 Unreadable, 6 Unsupported\n1 Ingress: 12 errors, 0 warnings, 0 notes\n"; got.Errors != want {
		t.Errorf("got %s", got.Errors)
	}
}
