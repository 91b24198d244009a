package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"sluice/internal/compare"
)

// comparedPorts are the ports of a controller.
type comparedPorts struct{ http, https int }

func portsOf(s *sluice) comparedPorts { return comparedPorts{s.HTTP, s.HTTPS} }

// compared runs sluice compare, and gives the report and the exit status.
func compared(t *testing.T, a, b comparedPorts, arguments ...string) (report compare.Report, status int) {
	t.Helper()
	out, diagnostics, status := runCompare(t, a, b, append(arguments, "-o", "json")...)
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, diagnostics)
	}
	t.Logf("%s", diagnostics)
	return report, status
}

func runCompare(t *testing.T, a, b comparedPorts, arguments ...string) (out, diagnostics []byte, status int) {
	t.Helper()
	command := exec.Command(sluicePath, append([]string{
		"compare", "--a", fmt.Sprintf("http://127.0.0.1:%d", a.http), "--a-https", fmt.Sprintf("127.0.0.1:%d", a.https),
		"--b", fmt.Sprintf("http://127.0.0.1:%d", b.http), "--b-https", fmt.Sprintf("127.0.0.1:%d", b.https),
		"--rate", "5000", "--timeout", "60s", "--backend-header", "X-Backend", "--body",
	}, arguments...)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return stdout.Bytes(), stderr.Bytes(), status
}

// comparedManifests are the Ingresses of the seeds.
func comparedManifests(t *testing.T, pairs map[string]keyPair) map[string]string {
	t.Helper()
	files := map[string]string{
		"class.yaml": class, "web.yaml": service("web", selfNamed(t, "web")), "canary.yaml": service("canary", selfNamed(t, "canary")),
	}
	for name, pair := range pairs {
		files["secret-"+name+".yaml"] = secret(name, pair)
	}
	for _, seed := range seeds() {
		host, paths := seed.host, seed.paths
		if host == "" {
			host = mostHost
		}
		if paths == nil {
			paths = []string{"/" + seed.name + " Prefix web"}
		}
		object := ingress(seed.name, host, paths, seed.annotations...)
		if _, has := pairs[host]; has {
			object = withTLS(object, host, host)
		}
		files[seed.name+".yaml"] = object
	}
	for name, annotations := range map[string][]string{
		"b03": {"canary-by-header: X-Canary"}, "b04": {"canary-by-header: X-Canary"}, "b05": {"canary-by-cookie: pick"},
		"b06": {"canary-by-header: X-Canary", "canary-by-header-value: green"},
	} {
		files[name+"-canary.yaml"] = ingress(name+"-canary", mostHost, []string{"/" + name + " Prefix canary"}, append(annotations, "canary: true")...)
	}
	return files
}

func tlsOf(t *testing.T, pair keyPair) *tls.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificate
}

// TestCompareFindsEachDifference holds that compare finds each of 50 differences of a
// stand-in, and nothing else, and that it finds none between two Sluices.
func TestCompareFindsEachDifference(t *testing.T) {
	oneNginx(t, func(t *testing.T, root string) {
		pairs := map[string]keyPair{
			"default": newKeyPair(t, 1, "default.example"), mostHost: newKeyPair(t, 2, mostHost),
			"cert.example": newKeyPair(t, 3, "cert.example"), "refused.example": newKeyPair(t, 4, "refused.example"),
		}
		files := comparedManifests(t, pairs)
		first, second := start(t, root, files, "--default-ssl-certificate", "default/default"), start(t, root, files, "--default-ssl-certificate", "default/default")
		input := []string{"-f", first.manifests, "--default-ssl-certificate", "default/default"}

		report, status := compared(t, portsOf(first), portsOf(second), input...)
		if status != 0 || len(report.Causes) > 0 || report.Requests < 1000 {
			t.Errorf("between two Sluices: status %d, %s\n%s", status, report.Summary(), textOf(&report))
		}

		other := newKeyPair(t, 5, "cert.example")
		stranger := &standIn{sluice: first, seeds: seeds(), certificates: map[string]*tls.Certificate{
			"": tlsOf(t, pairs["default"]), mostHost: tlsOf(t, pairs[mostHost]), "cert.example": tlsOf(t, other), "refused.example": nil,
		}}
		http, https := stranger.start(t)
		report, status = compared(t, portsOf(first), comparedPorts{http, https}, input...)
		if status != 1 {
			t.Errorf("status %d", status)
		}
		checkSeeds(t, &report)
		checkCommands(t, &report)
	})
}

// checkCommands holds that the commands of the report show the statuses that differ.
func checkCommands(t *testing.T, report *compare.Report) {
	t.Helper()
	ran := 0
	for _, c := range report.Causes {
		if c.Kind != compare.Status {
			continue
		}
		for value, line := range map[string]string{c.Example.A: c.Example.CurlA, c.Example.B: c.Example.CurlB} {
			out, err := exec.Command("bash", "-c", line).CombinedOutput()
			status, _, _ := strings.Cut(value, " ")
			if !strings.HasPrefix(string(out), "HTTP/1.1 "+status+" ") {
				t.Errorf("%s: want status %s, got %v %.200s", line, status, err, out)
			}
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d commands", ran)
	}
}

// checkSeeds holds that each seed is a cause, and each cause a seed.
func checkSeeds(t *testing.T, report *compare.Report) {
	t.Helper()
	found := map[string]bool{}
	for _, c := range report.Causes {
		found[strings.Join(c.Objects, " ")+": "+c.Place.String()] = true
	}
	all := seeds()
	for _, seed := range all {
		key := "Ingress default/" + seed.name + ": " + seed.want
		if !found[key] {
			t.Errorf("not found: %s", key)
		}
		delete(found, key)
	}
	for key := range found {
		t.Errorf("this is no seed: %s", key)
	}
	if t.Failed() {
		t.Log(textOf(report))
	}
	t.Logf("%d seeds; %s", len(all), report.Summary())
}

func textOf(report *compare.Report) string {
	var out strings.Builder
	_ = report.WriteText(&out)
	return out.String()
}
