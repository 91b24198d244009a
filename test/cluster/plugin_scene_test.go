package cluster

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/kit"
)

var update = flag.Bool("update", false, "write the expected output of the plugin anew")

// pluginBinary builds kubectl-sluice once, beside the sluice under test.
var pluginBinary = sync.OnceValues(func() (string, error) { return kit.BuildPlugin(SluicePath()) })

// call is one call of the plugin as a process.
type call struct {
	kubeconfig string
	stdin      string
	// environment is set besides.
	environment []string
}

// said is what a call printed, and its exit status.
type said struct {
	out, errs string
	status    int
}

func (v call) run(t testing.TB, arguments ...string) said {
	t.Helper()
	path, err := pluginBinary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), kit.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, path, arguments...)
	command.Env = v.environ(t)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	command.Stdin = strings.NewReader(v.stdin)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err = command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		t.Fatalf("kubectl-sluice %s: %v\n%s", strings.Join(arguments, " "), err, errs.String())
	}
	return said{out.String(), errs.String(), command.ProcessState.ExitCode()}
}

// environ is the environment of the plugin: a home of its own, and on the PATH the
// kubectl of `make clients`, if SLUICE_CLIENTS names its folder.
func (v call) environ(t testing.TB) []string {
	t.Helper()
	path := os.Getenv("PATH")
	if clients := os.Getenv("SLUICE_CLIENTS"); clients != "" {
		path = clients + string(os.PathListSeparator) + path
	}
	return append([]string{"PATH=" + path, "HOME=" + t.TempDir(), "KUBECONFIG=" + v.kubeconfig}, v.environment...)
}

// must is run for what has to succeed; it gives the output.
func (v call) must(t testing.TB, arguments ...string) string {
	t.Helper()
	s := v.run(t, arguments...)
	if s.status != 0 {
		t.Fatalf("kubectl-sluice %s: status %d: %s", strings.Join(arguments, " "), s.status, s.errs)
	}
	return s.out
}

// fails is run for what has to fail with the status 1, nothing on the standard
// output, and texts on the standard error.
func (v call) fails(t testing.TB, arguments []string, texts ...string) {
	t.Helper()
	v.ends(t, 1, arguments, texts...)
}

// misused is run for a command line that is wrong: it fails as others do, but with
// the status 2, and says at the end how to get help.
func (v call) misused(t testing.TB, arguments []string, texts ...string) {
	t.Helper()
	v.ends(t, 2, arguments, append(texts, "\nSee `kubectl sluice "+arguments[0]+" --help`.\n")...)
}

func (v call) ends(t testing.TB, status int, arguments []string, texts ...string) {
	t.Helper()
	s := v.run(t, arguments...)
	if s.status != status || s.out != "" {
		t.Errorf("kubectl-sluice %s: status %d, want %d, and it prints %q", strings.Join(arguments, " "), s.status, status, s.out)
	}
	for _, text := range texts {
		if !strings.Contains(s.errs, text) {
			t.Errorf("kubectl-sluice %s says %q, not %q", strings.Join(arguments, " "), s.errs, text)
		}
	}
}

// pluginScene is a site whose sluice is, for the API server, the container of two
// pods of the Deployment sluice-controller in a namespace beside it.
type pluginScene struct {
	*site
	call
	system string
	pods   []corev1.Pod // sorted by name
}

func newPluginScene(t *testing.T, name string, flags ...string) *pluginScene {
	t.Helper()
	c := Shared(t)
	p := &pluginScene{system: name + "-system", call: call{kubeconfig: c.Kubeconfig(t, "who-calls-"+name, "system:masters")}}
	c.Apply(t, Namespace(p.system), controllerDeployment(p.system, "sluice-controller", 2), controllerService(p.system))
	c.AwaitDeployment(t, p.system, "sluice-controller")
	p.pods = c.Pods(t, p.system, "sluice-controller")
	c.balance(t, p.system)
	s := PrepareSluice(t, c.Kubeconfig(t, "sluice-"+name, "system:masters"), flagsFor(name, append(flags, "--configmap", name+"/config")...)...)
	s.Environment = []string{"POD_NAME=" + p.pods[0].Name, "POD_NAMESPACE=" + p.system}
	for _, pod := range p.pods {
		c.BindSluice(t, s, p.system, pod.Name)
	}
	p.site = &site{Cluster: c, Sluice: s, name: name}
	c.Apply(t, Namespace(name), classOf(name))
	p.web(t, "web", 2)
	p.ApplyYAML(t, strings.ReplaceAll(debugHeaderSettings, "NAME", name))
	p.ingresses(t)
	s.Launch(t)
	s.AwaitReady(t)
	return p
}

// host is that of the Ingress shop; no other test has it.
func (p *pluginScene) host() string { return "www." + p.name + ".example" }

// ingresses are one with TLS and a behaviour, and one with a mistake.
func (p *pluginScene) ingresses(t *testing.T) {
	t.Helper()
	shop := p.ingress("shop", path(p.host(), "/", networkingv1.PathTypePrefix, "web"), path(p.host(), "/cart", networkingv1.PathTypeExact, "web"))
	covered(annotated(shop, "enable-cors", "true"), "shop", p.host())
	bad := annotated(p.ingress("bad", path("bad."+p.name+".example", "/", networkingv1.PathTypePrefix, "gone")), "proxy-connect-timeout", "soon")
	p.Apply(t, p.TLSSecret(t, p.name, "shop", p.host()), shop, bad)
	ingresses := p.Admin().NetworkingV1().Ingresses(p.name)
	object, err := ingresses.Get(t.Context(), "shop", metav1.GetOptions{})
	if err == nil {
		object.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "203.0.113.7"}}
		_, err = ingresses.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func controllerDeployment(namespace, name string, replicas int32) *appsv1.Deployment {
	d := Deployment(namespace, name, replicas)
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: ControllerContainer, Image: "registry.example/sluice:test", Args: []string{"run", "--state-dir=/var/lib/sluice/state"}}}
	return d
}

func controllerService(namespace string) *corev1.Service {
	service := Service(namespace, "sluice-controller")
	service.Spec.Type = corev1.ServiceTypeLoadBalancer
	return service
}

// balance gives the controller's Service an address, as a cloud does.
func (c *Cluster) balance(t *testing.T, namespace string) {
	t.Helper()
	services := c.Admin().CoreV1().Services(namespace)
	object, err := services.Get(t.Context(), "sluice-controller", metav1.GetOptions{})
	if err == nil {
		object.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.7"}, {Hostname: "lb.example"}}
		_, err = services.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What differs from run to run, and the widths of columns that differ with it: that
// columns stand below each other is for the tests of internal/plugin.
var changing = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`10\.244\.\d+\.\d+`), "10.244.x.x"},
	{regexp.MustCompile(`10\.96\.\d+\.\d+`), "10.96.x.x"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d   (\d\dh |\d{3}d)`), "2026-01-02 03:04:05   LEFT"},
	{regexp.MustCompile(` {3,}`), "   "},
}

// golden compares an output with the file of that name in testdata/plugin.
func golden(t *testing.T, name, got string) {
	t.Helper()
	for _, c := range changing {
		got = c.pattern.ReplaceAllString(got, c.shown)
	}
	file := filepath.Join("testdata", "plugin", name+".txt")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%s", name, got, want)
	}
}
