package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/lint"
)

// asSluice is the variable that makes the test binary be sluice.
const asSluice = "SLUICE_TEST_AS_SLUICE"

func TestMain(m *testing.M) {
	if os.Getenv(asSluice) != "" {
		main()
	}
	os.Exit(m.Run())
}

// ended is how a process of sluice went.
type ended struct {
	Status      int
	Out, Errors string
}

// process runs sluice in a folder, with a standard input.
func process(t *testing.T, dir, input string, arguments ...string) ended {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, diagnostics bytes.Buffer
	command := exec.Command(binary, arguments...)
	command.Dir, command.Env = dir, append(os.Environ(), asSluice+"=1")
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &out, &diagnostics
	err = command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{Status: command.ProcessState.ExitCode(), Out: out.String(), Errors: diagnostics.String()}
}

// noSettings is what lint says where it finds no settings.
const noSettings = "settings: not known, as no ConfigMap is found: the defaults are assumed; --configmap names it\n"

const class = `apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
`

// shop are manifests with an error, a warning and a note, in two files.
var shop = map[string]string{
	"class.yaml": class + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n",
	"web.yaml": `# What the shop serves.
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, annotations: {nginx.ingress.kubernetes.io/proxy-raed-timeout: "5"}}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http: {paths: [{path: /cart, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
  - host: shop.example
    http: {paths: [{path: /cart, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
# Theirs.
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: other, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: other.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: missing, port: {number: 80}}}}]}
`,
}

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLintText(t *testing.T) {
	t.Parallel()
	got := process(t, folder(t, shop), "", "lint", "-f", ".")
	want := ended{Status: 1, Errors: noSettings + "2 Ingresses: 1 error, 1 warning, 1 note\n", Out: `web.yaml:2: warning: Ingress shop/web: nginx.ingress.kubernetes.io/proxy-raed-timeout: no annotation has this name; did you mean "proxy-read-timeout"? [Unread]
web.yaml:2: note: Ingress shop/web: spec.rules[1].http.paths[0]: it says what spec.rules[0].http.paths[0] says: remove one of the two [Repeated]
web.yaml:14: error: Ingress shop/other: spec.rules[0].http.paths[0].backend.service.name: Service shop/missing does not exist: 503 is answered [NotFound]
`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLintJSON(t *testing.T) {
	t.Parallel()
	got := process(t, folder(t, shop), "", "lint", "-f", ".", "-o", "json", "--fail-on", "never")
	var report lint.Report
	if err := json.Unmarshal([]byte(got.Out), &report); err != nil || got.Status != 0 || got.Errors != "" {
		t.Fatalf("%v, %+v", err, got)
	}
	if report.Errors != 1 || report.Warnings != 1 || report.Notes != 1 || len(report.Findings) != 3 {
		t.Errorf("got %+v", report)
	}
	if f := report.Findings[2]; f.File != "web.yaml" || f.Document != 2 || f.Line != 14 || f.Severity != lint.Error || f.Object.Name != "other" {
		t.Errorf("got %+v", f)
	}
	for _, part := range []string{`"findings": [`, `"severity": "error"`, `"reason": "NotFound"`, `"errors": 1`} {
		if !strings.Contains(got.Out, part) {
			t.Errorf("%s is not in\n%s", part, got.Out)
		}
	}
}

func TestLintExitStatus(t *testing.T) {
	t.Parallel()
	clean := folder(t, map[string]string{"class.yaml": class})
	broken := folder(t, map[string]string{"a.yaml": "kind: ["})
	web := folder(t, map[string]string{"class.yaml": shop["class.yaml"], "web.yaml": strings.Split(shop["web.yaml"], "---\n")[0]})
	for _, test := range []struct {
		dir, input string
		arguments  []string
		status     int
		says       string
	}{
		{clean, "", []string{"-f", ".", "--allow-empty"}, 0, "0 Ingresses: 0 errors, 0 warnings, 0 notes"},
		{clean, "", []string{"-f", ".", "--allow-empty", "--fail-on", "note"}, 0, ""},
		{clean, "", []string{"-f", "."}, 1, "0 Ingresses: 1 error"},
		{clean, "", []string{"-f", ".", "--fail-on", "never"}, 0, "0 Ingresses: 1 error"},
		{web, "", []string{"-f", "."}, 1, "1 Ingress: 0 errors, 1 warning, 1 note"},
		{web, "", []string{"-f", ".", "-o", "json"}, 1, ""},
		{web, "", []string{"-f", ".", "--fail-on", "error"}, 0, ""},
		{web, "", []string{"-f", ".", "--fail-on", "note"}, 1, ""},
		{web, "", []string{"-f", ".", "--fail-on", "never"}, 0, ""},
		{web, "", []string{"-f", "web.yaml", "--fail-on", "error"}, 1, "1 error"}, // without its Service
		{clean, shop["web.yaml"], []string{"-f", "-"}, 1, "2 Ingresses"},
		{broken, "", []string{"-f", "."}, 1, "0 Ingresses: 1 error"},
		{clean, "", []string{"-f", "nosuch"}, 2, "nosuch: no such file"},
		{clean, "", nil, 2, "want -f with a folder, a file or -, or --from-cluster: one of the two"},
		{clean, "", []string{"-f", ".", "--from-cluster"}, 2, "one of the two"},
		{clean, "", []string{"-f", ".", "--context", "x"}, 2, "--kubeconfig and --context: want --from-cluster, too"},
		{clean, "", []string{"-f", ".", "-f", "."}, 2, "-f .: want each once"},
		{clean, "", []string{"-f", ".", "--fail-on", "info"}, 2, `--fail-on: want error, warning, note or never (got "info")`},
		{clean, "", []string{"-f", ".", "-o", "xml"}, 2, `-o: want text or json (got "xml")`},
		{clean, "", []string{"-f", ".", "--nosuch"}, 2, "unknown flag: --nosuch"},
		{clean, "", []string{"-f", ".", "more"}, 2, `want flags alone (got "more"): manifests are given with -f`},
		{clean, "", []string{"-f", ".", "--configmap", "x"}, 2, `--configmap: want NAMESPACE/NAME (got "x")`},
		{clean, "", []string{"--help"}, 0, ""},
	} {
		got := process(t, test.dir, test.input, append([]string{"lint"}, test.arguments...)...)
		if got.Status != test.status || !strings.Contains(got.Errors, test.says) {
			t.Errorf("lint %v: status %d, want %d, and %q in\n%s%s", test.arguments, got.Status, test.status, test.says, got.Errors, got.Out)
		}
	}
}

// A command line that is wrong ends with 2 and says how to get help, whichever the
// command is.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		arguments []string
		status    int
		errors    string
	}{
		{[]string{"version"}, 0, ""},
		{[]string{"--version"}, 0, ""},
		{[]string{"nosuch"}, 2, "sluice: unknown command \"nosuch\" for \"sluice\"\nSee `sluice --help`.\n"},
		{[]string{"help", "nosuch"}, 2, "sluice: unknown command \"nosuch\" for \"sluice\"\nSee `sluice help --help`.\n"},
		{[]string{"help", "render", "nosuch"}, 2, "sluice: unknown command \"nosuch\" for \"sluice render\"\nSee `sluice help --help`.\n"},
		{[]string{"rendr"}, 2, "sluice: unknown command \"rendr\" for \"sluice\"\n\nDid you mean this?\n\trender\n\nSee `sluice --help`.\n"},
		{[]string{"debug", "gte"}, 2, "sluice: unknown command \"gte\" for \"sluice debug\"\nSee `sluice debug --help`.\n"},
		{[]string{"version", "now"}, 2, "sluice: want no arguments (got \"now\")\nSee `sluice version --help`.\n"},
		{[]string{"render"}, 2, "sluice: -f: want a folder, a file or - (got nothing)\nSee `sluice render --help`.\n"},
		{[]string{"render", "-f", "nosuch"}, 2, "sluice: manifests: stat nosuch: no such file or directory\nSee `sluice render --help`.\n"},
		{[]string{"render", "-f", ".", "--host", "a", "--ingress", "b/c"}, 2, "sluice: --ingress and --host: want one of the two (got both)\nSee `sluice render --help`.\n"},
		{[]string{"render", "--nosuch"}, 2, "sluice: unknown flag: --nosuch\nSee `sluice render --help`.\n"},
		{[]string{"explain", "-f", "."}, 2, "sluice: want a URL, such as https://shop.example/cart, with the method before it if it is not GET (got nothing)\nSee `sluice explain --help`.\n"},
		{[]string{"explain", "GET", "a", "b"}, 2, "sluice: want a URL, such as https://shop.example/cart, with the method before it if it is not GET (got \"GET a b\")\nSee `sluice explain --help`.\n"},
		{[]string{"debug", "get"}, 2, "sluice: want the path of a view, such as /general (got nothing)\nSee `sluice debug get --help`.\n"},
		{[]string{"lint", "deploy"}, 2, "sluice: want flags alone (got \"deploy\"): manifests are given with -f\nSee `sluice lint --help`.\n"},
		{[]string{"lint", "-f", ".", "--ingres-class", "a"}, 2, "sluice: unknown flag: --ingres-class; did you mean \"--ingress-class\"?\nSee `sluice lint --help`.\n"},
		{[]string{"lint", "-n", "shop"}, 2, "sluice: unknown shorthand flag: 'n' in -n; did you mean \"--watch-namespace\"?\nSee `sluice lint --help`.\n"},
		{[]string{"lint", "-f", ".", "--watch-namespace", "A"}, 2, "sluice: --watch-namespace: want the name of a namespace (got \"A\")\nSee `sluice lint --help`.\n"},
		{[]string{"lint", "-f", ".", "--ingress-class-by-name=x"}, 2, "sluice: --ingress-class-by-name: want true or false (got \"x\")\nSee `sluice lint --help`.\n"},
		{[]string{"lint", "-f", ".", "--ignore", "unread,NotFoud"}, 2, "sluice: --ignore: want the reason of a finding: Ambiguous, Classless, Conflict, Constant, CrossNamespace, Disk, Empty, Fixed, Foreign, Groupless, Inherited, InvalidValue, Keyless, Lifted, NearClass, NoEffect, NoRoom, NotDelegated, NotFound, OtherClass, Refused, Repeated, Rewritten, Several, Shadowed, SharedHost, Snippet, Star, Strict, ToBeIssued, Turned, Uncompared, Unhealthy, Unlabelled, Unreachable, Unread, Unreadable, Unserved, Unslashed, Unsupported, Untested, Unwatched (got \"NotFoud\"); did you mean \"NotFound\"?\nSee `sluice lint --help`.\n"},
		{[]string{"render", "-f", ".", "--http-port=x"}, 2, "sluice: --http-port: want a whole number (got \"x\")\nSee `sluice render --help`.\n"},
		{[]string{"run", "-f", "."}, 2, "sluice: unknown shorthand flag: 'f' in -f; did you mean \"--manifests\"?\nSee `sluice run --help`.\n"},
		{[]string{"run", "deploy"}, 2, "sluice: want flags alone (got \"deploy\"): a folder of manifests is given with --manifests\nSee `sluice run --help`.\n"},
		{[]string{"explain", "http://a/", "-f", ".", "-o", "xml"}, 2, "sluice: -o: want text or json (got \"xml\")\nSee `sluice explain --help`.\n"},
		{[]string{"run", "--http-port", "0"}, 2, "sluice: --http-port: want a port from 1 to 65535 (got 0)\nSee `sluice run --help`.\n"},
		{[]string{"run", "--manifests", "nosuch"}, 2, "sluice: --manifests: want a folder, a file or - for the standard input: manifests: stat nosuch: no such file or directory\nSee `sluice run --help`.\n"},
	} {
		if got := process(t, t.TempDir(), "", test.arguments...); got.Status != test.status || got.Errors != test.errors {
			t.Errorf("%v: %+v", test.arguments, got)
		}
	}
}

// Nothing is to be said of the example, in either scope; its settings are found.
func TestLintExampleShop(t *testing.T) {
	t.Parallel()
	for said, arguments := range map[string][]string{"": {"--configmap", "shop/sluice"}, "settings: ConfigMap shop/sluice, by its name\n": nil} {
		got := process(t, "../..", "", append([]string{"lint", "-f", "docs/examples/shop", "--fail-on", "note"}, arguments...)...)
		if diff := cmp.Diff(ended{Errors: said + "7 Ingresses: 0 errors, 0 warnings, 0 notes\n"}, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", arguments, diff)
		}
	}
}

// What lint says of the example with a pattern on the shop's host.
func TestLintTellsWhoTurnsTheHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../docs/examples/shop")); err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(dir, "32-images.yaml")
	text, err := os.ReadFile(images)
	if err != nil {
		t.Fatal(err)
	}
	moved := bytes.ReplaceAll(text, []byte("api.shop.example"), []byte("www.shop.example"))
	if err := os.WriteFile(images, moved, 0o600); err != nil {
		t.Fatal(err)
	}
	// Not with the settings of the example, which keep patterns to their paths.
	got := process(t, dir, "", "lint", "-f", ".", "--configmap", "shop/none", "--ignore", "NotFound")
	file := filepath.Join("testdata", "lint-turned.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got.Out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ends := ended{Status: 1, Out: string(want), Errors: "7 Ingresses: 0 errors, 3 warnings, 0 notes; 1 ignored\n"}
	if diff := cmp.Diff(ends, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLintHelpSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	help := process(t, t.TempDir(), "", "lint", "--help").Out
	for _, part := range []string{"| sluice lint -f -", "In CI", "exit status is\n  0 ", "--fail-on", "--configmap"} {
		if !strings.Contains(help, part) {
			t.Errorf("%q is not in\n%s", part, help)
		}
	}
}

// All that is given is read, not the last alone.
func TestFilesAreReadTogether(t *testing.T) {
	t.Parallel()
	dir := folder(t, shop)
	for _, arguments := range [][]string{{"-f", "class.yaml", "-f", "web.yaml"}, {"-f", "web.yaml", "-f", "-"}, {"-f", "web.yaml", "-f", "class.yaml"}} {
		got := process(t, dir, shop["class.yaml"], append([]string{"lint"}, arguments...)...)
		if got.Errors != noSettings+"2 Ingresses: 1 error, 1 warning, 1 note\n" {
			t.Errorf("%v: %+v", arguments, got)
		}
		for _, command := range [][]string{{"render", "--ingress", "shop/web"}, {"explain", "shop.example/cart"}} {
			got := process(t, dir, shop["class.yaml"], append(command, arguments...)...)
			if got.Status != 0 || !strings.Contains(got.Out, "shop/web") {
				t.Errorf("%v %v: %+v", command, arguments, got)
			}
		}
	}
}

// A cluster that is not there is told in words.
func TestLintWithoutACluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	const away = "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n"
	if err := os.WriteFile(config, []byte(away), 0o600); err != nil {
		t.Fatal(err)
	}
	got := process(t, dir, "", "lint", "--from-cluster", "--kubeconfig", config)
	const want = "sluice: the cluster cannot be reached at http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused\n"
	if got.Status != 2 || !strings.HasPrefix(got.Errors, want) {
		t.Errorf("%+v", got)
	}
}
