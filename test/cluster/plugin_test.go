package cluster

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestPlugin runs each command of the plugin as a process, against a running
// sluice that is reached through the API server only.
func TestPlugin(t *testing.T) {
	p := newPluginScene(t, "plugin", "--enable-metrics", "--metrics-per-undefined-host")
	for name, test := range map[string]func(*testing.T, *pluginScene){
		"tables": pluginTables, "documents": pluginDocuments, "conf": pluginConf, "explain": pluginExplain, "certs": pluginCerts,
		"general": pluginGeneral, "info": pluginInfo, "exec": pluginExec, "logs": pluginLogs, "errors": pluginErrors,
		"diff": pluginDiff, "why-reloaded": pluginWhyReloaded, "top": pluginTop, "watch": pluginWatch, "ui": pluginUI, "live": pluginLive, "pods": pluginPods, "completion": pluginCompletion, "terminal": pluginTerminal,
	} {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

// pluginTables: what is the same in each run, as files. The names of the
// controller's pods are not, and go to the standard error.
func pluginTables(t *testing.T, p *pluginScene) {
	for name, arguments := range map[string][]string{
		"routes":           {"routes"},
		"routes-host-wide": {"routes", "--host", "www.plugin.example", "-o", "wide"},
		"routes-ingress":   {"routes", "--ingress", "plugin/bad"},
		"problems":         {"problems", "--controller-namespace", p.system, "--namespace", "plugin"},
		"problems-ingress": {"problems", "--ingress", "plugin/bad", "-o", "name"},
		"backends":         {"backends"},
		"backends-list":    {"backends", "--list"},
		"backends-one":     {"backends", "--backend", "plugin-web-80", "-o", "wide"},
		"certs":            {"certs"},
		"certs-name":       {"certs", "-o", "name"},
		"ingresses":        {"ingresses", "--namespace", "plugin"},
		"ingresses-wide":   {"ing", "--namespace", "plugin", "-o", "wide", "--host", "www.plugin.example"},
		"ingresses-name":   {"ingress", "--namespace", "plugin", "-o", "name"},
	} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(arguments, "--namespace") {
				arguments = append(arguments, "--namespace", p.system)
			}
			golden(t, name, p.must(t, arguments...))
		})
	}
}

// pluginDocuments: JSON and YAML say the same, and are what a program expects.
func pluginDocuments(t *testing.T, p *pluginScene) {
	for _, arguments := range [][]string{
		{"routes"}, {"problems", "-A"}, {"backends"}, {"certs"}, {"general"}, {"conf", "--host", "www.plugin.example"},
		{"explain", "www.plugin.example/"}, {"ingresses", "-A"}, {"info"}, {"why-reloaded"},
	} {
		t.Run(arguments[0], func(t *testing.T) {
			arguments = append(arguments, "--namespace", p.system, "--output")
			var one, other any
			if err := json.Unmarshal([]byte(p.must(t, append(slices.Clone(arguments), "json")...)), &one); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(p.must(t, append(slices.Clone(arguments), "yaml")...)), &other); err != nil {
				t.Fatal(err)
			}
			if a, b := shape(one), shape(other); a != b || a == "[]" || a == "{}" {
				t.Errorf("JSON has %s, YAML %s", a, b)
			}
		})
	}
}

// shape is a document without what may change from one call to the next.
func shape(document any) string {
	switch d := document.(type) {
	case []any:
		var all []string
		for _, one := range d {
			all = append(all, shape(one))
		}
		return fmt.Sprint(all)
	case map[string]any:
		var all []string
		for key, value := range d {
			all = append(all, key+":"+shape(value))
		}
		slices.Sort(all)
		return "{" + strings.Join(all, " ") + "}"
	}
	return fmt.Sprintf("%T", document)
}

// originPattern is a line of conf --ingress plugin/shop --origins.
var originPattern = regexp.MustCompile(`^ *\d+  Ingress plugin/shop (\S+) *  \| (.*)\n$`)

func pluginConf(t *testing.T, p *pluginScene) {
	whole := p.must(t, "conf", "--namespace", p.system)
	if !strings.Contains(whole, "\nhttp {") || !strings.Contains(whole, "www.plugin.example") || !strings.Contains(whole, "bad.plugin.example") {
		t.Errorf("conf is\n%.2000s", whole)
	}
	host := p.must(t, "conf", "--namespace", p.system, "--host", "www.plugin.example")
	if !strings.Contains(host, "server_name") || strings.Contains(host, "bad.plugin.example") || !strings.Contains(whole, strings.SplitN(host, "\n", 2)[0]) {
		t.Errorf("conf --host is\n%s", host)
	}
	origins := p.must(t, "conf", "--namespace", p.system, "--ingress", "plugin/shop", "--origins")
	behaviours := map[string]bool{}
	for line := range strings.Lines(origins) {
		parts := originPattern.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("a line without its origin: %q", line)
		}
		behaviours[parts[1]] = true
		if !strings.Contains(whole, "\n"+parts[2]+"\n") {
			t.Errorf("a line that is not in the whole: %q", parts[2])
		}
	}
	if !behaviours["rule"] || !behaviours["cors"] {
		t.Errorf("the behaviours are %v", behaviours)
	}
}

func pluginExplain(t *testing.T, p *pluginScene) {
	got := p.must(t, "explain", "https://www.plugin.example/cart", "--namespace", p.system)
	for _, text := range []string{"goes to Service plugin/web:80 by Ingress plugin/shop, spec.rules[1].http.paths[0] (Exact /cart)\n", "\nLost:\n  Ingress plugin/shop, spec.rules[0]"} {
		if !strings.Contains(got, text) {
			t.Errorf("explain says\n%s, not %q", got, text)
		}
	}
	options := []string{"explain", "OPTIONS", "https://www.plugin.example/cart", "--namespace", p.system}
	const outcome = "Service plugin/web:80, unless cors answers it\n"
	if got := p.must(t, options...); !strings.HasPrefix(got, outcome+"OPTIONS https://www.plugin.example/cart goes to Service plugin/web:80 ") {
		t.Errorf("OPTIONS: %s", got)
	}
	if got := p.must(t, append(options, "--short")...); got != outcome {
		t.Errorf("OPTIONS --short: %q, want %q", got, outcome)
	}
	p.fails(t, []string{"explain", "ftp://x/", "--namespace", p.system}, "url: want http://host/path")
	p.misused(t, []string{"explain", "--namespace", p.system}, "want a URL, such as")
}

// pluginCerts: a certificate is shown without its key, also that of a name that
// only the default covers.
func pluginCerts(t *testing.T, p *pluginScene) {
	got := p.must(t, "certs", "--host", "www.plugin.example", "--namespace", p.system)
	block, _ := pem.Decode([]byte(got))
	if block == nil || block.Type != "CERTIFICATE" || strings.Contains(got, "PRIVATE KEY") {
		t.Errorf("the certificate is %s", got)
	}
	table := p.must(t, "certs", "--host", "www.plugin.example", "--namespace", p.system, "-o", "wide")
	if !strings.Contains(table, "plugin/shop") || !strings.Contains(table, "SHA256") {
		t.Errorf("the table is %s", table)
	}
}

func pluginGeneral(t *testing.T, p *pluginScene) {
	got := p.must(t, "general", "--namespace", p.system)
	for _, text := range []string{"Ready:         yes", "Serves:        2 Ingresses", "Leader:        this pod", "Problems:      "} {
		if !strings.Contains(got, text) {
			t.Errorf("general says\n%s, not %q", got, text)
		}
	}
}

func pluginInfo(t *testing.T, p *pluginScene) {
	got := p.must(t, "info", "--namespace", p.system)
	for _, text := range []string{"Service cluster IP address: 10.96.", "LoadBalancer IP|CNAME: 203.0.113.7,lb.example\n", p.pods[0].Name, p.pods[1].Name} {
		if !strings.Contains(got, text) {
			t.Errorf("info says\n%s, not %q", got, text)
		}
	}
	p.fails(t, []string{"info", "--namespace", p.system, "--service", "no-such"}, `no Service "no-such"`, "--service")
}

// pluginExec: the streams are those of the program, and so is the exit status.
func pluginExec(t *testing.T, p *pluginScene) {
	with := p.call
	with.stdin = "hello\n"
	pod := "--pod=" + p.pods[1].Name
	got := with.run(t, "exec", "-i", "--namespace", p.system, pod, "--", "sh", "-c", "cat; echo oops >&2; exit 7")
	if got != (said{"hello\n", "oops\ncommand terminated with exit code 7\n", 7}) { // the second line is kubectl's
		t.Errorf("exec gives %+v", got)
	}
	if got := p.must(t, "exec", "--namespace", p.system, pod, "--", "sluice", "version"); !strings.HasPrefix(got, "sluice ") {
		t.Errorf("exec sluice version gives %q", got)
	}
	with.stdin = "echo in a $((1+1))nd shell\n"
	if got := with.run(t, "ssh", "--namespace", p.system, pod); got.out != "in a 2nd shell\n" || got.status != 0 || !strings.Contains(got.errs, "input is not a terminal") {
		t.Errorf("ssh gives %+v", got)
	}
	p.misused(t, []string{"exec", "--namespace", p.system}, "want a command to run")
	without := p.call
	without.environment = []string{"PATH=/nowhere"}
	for _, command := range [][]string{{"exec", pod, "--", "true"}, {"ssh", pod}, {"logs", pod}, {"general", pod}} {
		without.fails(t, slices.Insert(command, 1, "--namespace", p.system), `error: find kubectl: exec: "kubectl": executable file not found in $PATH`)
	}
	without.environment = append(without.environment, "KUBECTL="+filepath.Join(os.Getenv("SLUICE_CLIENTS"), "kubectl"))
	if os.Getenv("SLUICE_CLIENTS") != "" {
		without.must(t, "exec", "--namespace", p.system, pod, "--", "true")
	}
}

func pluginLogs(t *testing.T, p *pluginScene) {
	var all string
	Eventually(t, "the log of the controller", func(context.Context) error {
		if all = p.must(t, "logs", "--namespace", p.system); !strings.Contains(all, "msg=sync") {
			return errors.New("it has no line of a sync")
		}
		return nil
	})
	last := p.must(t, "logs", "--namespace", p.system, "--tail", "1", "--timestamps")
	if strings.Count(last, "\n") != 1 || !strings.HasPrefix(last, "20") {
		t.Errorf("the last line is %q", last)
	}
	if none := p.must(t, "logs", "--namespace", p.system, "--tail", "0"); none != "" {
		t.Errorf("no lines are %q", none)
	}
	if first := p.must(t, "logs", "--namespace", p.system, "--limit-bytes", "10"); first != all[:10] {
		t.Errorf("ten bytes are %q", first)
	}
	p.fails(t, []string{"logs", "--namespace", p.system, "--previous"}, "previous terminated container")
	p.fails(t, []string{"logs", "--namespace", p.system, "--since-time", "noon"}, `--since-time: want a time such as`)
	p.fails(t, []string{"logs", "--namespace", p.system, "--limit-bytes", "0"}, `--limit-bytes: want a number from 1 (got 0)`)
}

// pluginErrors say what was asked of whom, and what to do.
func pluginErrors(t *testing.T, p *pluginScene) {
	in := func(arguments ...string) []string { return append(arguments, "--namespace", p.system) }
	p.fails(t, in("conf", "--host", "no.example"), "pod "+p.system+"/", "sluice debug get /conf?", "no.example")
	p.fails(t, in("backends", "--backend", "no-such"), "no-such")
	p.misused(t, in("backends", "--backend", "x", "--list"), "none of the others can be")
	p.misused(t, in("routes", "-o", "xml"), `want table, wide, json or yaml (got "xml")`)
	p.fails(t, in("routes", "--ingress", "a/b/c"), "--ingress: want namespace/name", "a/b/c")
	p.misused(t, in("routes", "web"), `kubectl sluice routes takes no arguments (got "web")`)
	p.fails(t, in("conf", "--pod", "no-such"), `no pod "no-such" in the namespace "plugin-system"; these look like a controller:`, "--namespace plugin-system --deployment sluice-controller")
	p.fails(t, in("conf", "--deployment", "no-such"), `no pod of a Deployment or DaemonSet "no-such"`, "--deployment sluice-controller")
	p.fails(t, in("conf", "--selector", "app=no-such"), `no pod with the labels "app=no-such"`)
	p.fails(t, in("conf", "--container", "sidecar"), `has no container "sidecar": want --container with one of controller`)
	const refused = "the cluster cannot be reached at http%s://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused"
	p.fails(t, []string{"conf", "--pod", "x", "--server", "https://127.0.0.1:1"}, "error: "+fmt.Sprintf(refused, "s")+"\n")
	lost := call{environment: []string{"KUBERNETES_MASTER=http://127.0.0.1:1"}}
	lost.fails(t, []string{"conf", "--pod", "x"}, "error: no kubeconfig, or "+fmt.Sprintf(refused, "")+" (--kubeconfig, ")
	p.fails(t, []string{"conf", "--context", "no-such"}, "find the cluster", "--context")
	nobody := call{kubeconfig: p.Kubeconfig(t, "nobody-of-the-plugin")}
	nobody.fails(t, in("conf"), `list the pods of the namespace "plugin-system"`, "forbidden", "docs/plugin.md")
	p.fails(t, []string{"conf", "--namespace", p.name, "--deployment", "web", "--container", "echo"}, "run `sluice debug get /conf", "stand-in")
}
