//go:build image

package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// rights are those that the chart of ingress-nginx (4.15) gives its account.
func rights(namespace string) []cluster.Grant {
	const networking, discovery, coordination = "networking.k8s.io", "discovery.k8s.io", "coordination.k8s.io"
	lease := cluster.Allow(coordination, []string{"leases"}, "get", "update")
	lease.ResourceNames = []string{"ingress-nginx-leader"}
	return []cluster.Grant{
		cluster.Everywhere(
			cluster.Allow("", []string{"configmaps", "endpoints", "nodes", "pods", "secrets", "namespaces"}, "list", "watch"),
			cluster.Allow("", []string{"nodes"}, "get"),
			cluster.Allow("", []string{"services"}, "get", "list", "watch"),
			cluster.Allow("", []string{"events"}, "create", "patch"),
			cluster.Allow(networking, []string{"ingresses", "ingressclasses"}, "get", "list", "watch"),
			cluster.Allow(networking, []string{"ingresses/status"}, "update"),
			cluster.Allow(discovery, []string{"endpointslices"}, "list", "watch", "get"),
			cluster.Allow(coordination, []string{"leases"}, "list", "watch"),
		),
		cluster.Within(namespace,
			cluster.Allow("", []string{"configmaps", "pods", "secrets", "endpoints"}, "get", "list", "watch"),
			cluster.Allow("", []string{"events"}, "create", "patch"),
			lease, cluster.Allow(coordination, []string{"leases"}, "create"),
		),
	}
}

// scene is a namespace with an account, what the arguments of the Deployments
// name, and a Deployment of pods that are to be reached.
func scene(t *testing.T, prefix string) (*cluster.Cluster, pod) {
	t.Helper()
	c := cluster.Shared(t)
	ns := c.NewNamespace(t, prefix)
	c.Account(t, ns, "ingress-nginx", rights(ns)...)
	published := cluster.Service(ns, "ingress-nginx-controller")
	published.Spec.Type, published.Spec.ExternalIPs = corev1.ServiceTypeLoadBalancer, []string{"10.255.9.9"}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "ingress-nginx-controller"}, Data: map[string]string{"ssl-redirect": "false"}}
	c.Apply(t, published, settings, cluster.IngressClass("nginx"))
	c.Apply(t, cluster.Web(ns, "web", 1)...)
	c.AwaitEndpoints(t, ns, "web", 1)
	return c, pod{namespace: ns, name: "ingress-nginx-controller-0", account: "ingress-nginx", host: prefix + ".example", volume: ownVolume, group: account}
}

// chartArguments are those of the Deployment of ingress-nginx's chart (4.15) with
// its defaults, as the kubelet expands them.
func chartArguments(namespace string) []string {
	return []string{
		"/nginx-ingress-controller",
		"--publish-service=" + namespace + "/ingress-nginx-controller",
		"--election-id=ingress-nginx-leader",
		"--controller-class=k8s.io/ingress-nginx",
		"--ingress-class=nginx",
		"--configmap=" + namespace + "/ingress-nginx-controller",
		"--validating-webhook=:8443",
		"--validating-webhook-certificate=/usr/local/certificates/cert",
		"--validating-webhook-key=/usr/local/certificates/key",
	}
}

// chartGroup is the group of the pods of ingress-nginx's chart.
const chartGroup = 82

// TestIngressNginxDeployment: a Deployment of ingress-nginx's chart goes on with
// this image: with its arguments, environment, account, user and group, probes and
// preStop hook, and without any right. With NET_BIND_SERVICE, as that chart has it,
// test/cluster/real runs it.
func TestIngressNginxDeployment(t *testing.T) {
	c, p := scene(t, "image-nginx")
	p.args, p.env, p.group = chartArguments(p.namespace), []string{"LD_PRELOAD=/usr/local/lib/libmimalloc.so"}, chartGroup
	s := run(t, c, p)
	s.awaitProbe(t)
	s.serves(t, c, p.namespace)
	s.isContained(t)
	// The pod has no volume with a certificate. That stops nothing but the webhook.
	if lines := s.Log.Lines(t, "the admission webhook has no new certificate"); len(lines) != 1 || !strings.Contains(lines[0], "/usr/local/certificates/cert") {
		t.Errorf("the missing certificate is told by %q", lines)
	}
	if lines := s.Log.Lines(t, "some flags have no effect"); len(lines) > 0 {
		t.Errorf("told is %q", lines)
	}
	s.finishes(t, c, func() {
		if output, err := s.exec("/wait-shutdown"); err != nil {
			t.Errorf("/wait-shutdown: %v: %s", err, output)
		}
		_ = s.Command.Process.Signal(syscall.SIGTERM) // as the kubelet does after the hook
	})
}

// TestSluiceRun: the arguments of Sluice's own Deployment.
func TestSluiceRun(t *testing.T) {
	c, p := scene(t, "image-run")
	p.args = []string{"run", "--configmap=" + p.namespace + "/ingress-nginx-controller", "--publish-service=" + p.namespace + "/ingress-nginx-controller", "--election-id=ingress-nginx-leader", "--tcp-services-configmap=" + p.namespace + "/" + tcpServices}
	s := run(t, c, p)
	s.AwaitReady(t)
	s.serves(t, c, p.namespace)
	s.isContained(t)
	s.hasTools(t)
	s.loadsModules(t)
	s.servesTCP(t, c)
	s.reapsAndRecovers(t)
	s.finishes(t, c, func() {
		if err := s.Command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
}

// ownVolume stands for the folder of the image, where it is not read-only, and
// rootsVolume is an emptyDir.
var ownVolume, rootsVolume = fmt.Sprintf("mode=0700,uid=%d,gid=%d", account, account), "mode=0777"

// TestCommand: a Deployment may name the program as its command, too; and it need
// not know where the image keeps its state.
func TestCommand(t *testing.T) {
	states := map[string]string{ownVolume: "/var/lib/sluice", "": "/tmp/sluice"}
	if !throughUserNamespace() { // there, nothing is root's
		states[rootsVolume] = "/var/lib/sluice/state"
	}
	for volume, state := range states {
		t.Run(state, func(t *testing.T) {
			c, p := scene(t, "image-command")
			p.command, p.args, p.volume = []string{"/nginx-ingress-controller"}, chartArguments(p.namespace)[1:], volume
			s := run(t, c, p)
			s.awaitProbe(t)
			if arguments := s.mustExec(t, "cat", "/proc/1/cmdline"); !strings.HasPrefix(arguments, "/nginx-ingress-controller\x00") {
				t.Errorf("the first process is %q", arguments)
			}
			written, shown := s.mustExec(t, "cat", state+"/nginx.conf"), s.mustExec(t, "/dbg", "conf")
			if written == "" || written != shown {
				t.Errorf("/dbg conf prints %.200q, the file is %.200q", shown, written)
			}
			s.Terminate()
			if s.Err != nil {
				t.Errorf("it ended with %v", s.Err)
			}
		})
	}
}

// awaitProbe waits until the health check that ingress-nginx's probes ask for
// says yes, which it may not before a worker serves.
func (s *container) awaitProbe(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, "the probe of ingress-nginx's Deployment", func(ctx context.Context) error {
		s.MustRun(t)
		answer, err := cluster.Request{URL: "http://127.0.0.1:10254/healthz"}.Do(ctx)
		if err == nil && answer.Status != http.StatusOK {
			err = errors.New(answer.Body)
		}
		return err
	})
	if status := s.Ready(); status != http.StatusOK {
		t.Errorf("the probe says yes while /readyz answers %d", status)
	}
}

// serves: an Ingress that is created is served, by HTTP and HTTPS; changed
// endpoints are used without a reload, a changed Ingress with one.
func (s *container) serves(t *testing.T, c *cluster.Cluster, ns string) {
	t.Helper()
	host := s.host
	ingress := cluster.Ingress(ns, "web", cluster.Rule(host, "/", "web", 80))
	ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{host}, SecretName: "web"}}
	c.Apply(t, c.TLSSecret(t, ns, "web", host), ingress)
	t.Cleanup(func() { c.Delete(t, ingress) }) // the next container is not to see it go
	first := c.AwaitEndpoints(t, ns, "web", 1)[0]
	for _, url := range []string{"http://" + host + "/", "https://" + host + "/"} {
		r := s.Request(url)
		r.Roots = c.Roots()
		cluster.EventuallyAnswer(t, r, "the pod "+first, func(a *cluster.Answer) bool { return a.Echo != nil && a.Echo.IP == first })
	}
	cluster.Eventually(t, "the line of the first reload", func(context.Context) error {
		if len(s.Log.Lines(t, "hosts=["+host+"]")) == 0 {
			return errors.New("it is not there")
		}
		return nil
	})
	reloads := s.reloads(t)
	c.Apply(t, cluster.Deployment(ns, "web", 3))
	for _, address := range c.AwaitEndpoints(t, ns, "web", 3) {
		cluster.EventuallyAnswer(t, s.Request("http://"+host+"/"), "the pod "+address, func(a *cluster.Answer) bool { return a.Echo != nil && a.Echo.IP == address })
	}
	if now := s.reloads(t); now != reloads {
		t.Errorf("%d reloads for changed endpoints, want none", now-reloads)
	}
	ingress.Annotations = map[string]string{"nginx.ingress.kubernetes.io/permanent-redirect": "https://elsewhere.example/"}
	c.Apply(t, ingress)
	cluster.EventuallyStatus(t, s.Request("http://"+host+"/"), http.StatusMovedPermanently)
	cluster.Eventually(t, "the line of the reload", func(context.Context) error {
		if now := s.reloads(t); now != reloads+1 {
			return fmt.Errorf("%d reloads for a changed Ingress, want one", now-reloads)
		}
		return nil
	})
	ingress.Annotations = nil
	c.Apply(t, ingress)
	cluster.EventuallyStatus(t, s.Request("http://"+host+"/"), http.StatusOK)
}

func (s *container) reloads(t *testing.T) int { return s.Log.Reloads(t) }

// isContained: it is the first process, has no right that the pod does not add,
// writes to its folder only, and runs the image's own nginx, without modules that
// nothing asks for.
func (s *container) isContained(t *testing.T) {
	t.Helper()
	const nothing = "0000000000000000"
	wanted := map[string]string{"CapEff": nothing, "CapPrm": nothing, "CapBnd": nothing, "CapAmb": nothing, "NoNewPrivs": "1"}
	if !throughUserNamespace() {
		wanted["Uid"], wanted["Gid"] = "101 101 101 101", strings.TrimSpace(strings.Repeat(strconv.Itoa(s.group)+" ", 4))
	}
	for field, want := range wanted {
		if got := s.status(t, field); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	if pids := strings.Fields(s.status(t, "NSpid")); pids[len(pids)-1] != "1" {
		t.Errorf("it is the process %v, want the first", pids)
	}
	for _, folder := range []string{"/etc", "/usr/bin", "/var/lib"} {
		if output, err := s.exec("touch", folder+"/written"); err == nil || !strings.Contains(output, "Read-only file system") {
			t.Errorf("touch in %s: %v %s", folder, err, output)
		}
	}
	found := s.Log.Lines(t, "nginx found")
	if len(found) != 1 || !strings.Contains(found[0], "version=1.26.") || !strings.Contains(found[0], "command=[/usr/sbin/nginx]") {
		t.Errorf("nginx: %q", found)
	}
	if conf := s.mustExec(t, "cat", "/etc/nginx/nginx.conf"); !strings.Contains(conf, s.host) {
		t.Errorf("/etc/nginx/nginx.conf is not the one that runs: %.300s", conf)
	}
	if conf := s.mustExec(t, "/dbg", "conf"); !strings.Contains(conf, s.host) {
		t.Errorf("/dbg conf prints %.300s", conf)
	}
	if !s.loaded(t, "ngx_http_lua_module.so") {
		t.Error("nginx's memory shows no Lua module")
	}
	for _, module := range optional {
		if s.loaded(t, module) {
			t.Errorf("nginx has loaded %s, which nothing asks for", module)
		}
	}
	for _, line := range append(s.Log.Lines(t, "level=ERROR"), s.Log.Lines(t, "[emerg]")...) {
		t.Error(line)
	}
}

// children are the processes that the container's first one has, with their
// states, as the machine sees them.
func (s *container) children(t *testing.T) map[int]string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(fields) > 1 && fields[1] == strconv.Itoa(s.PID()) {
			found[pid] = fields[0]
		}
	}
	return found
}

// nginx is the master, the only child that leads a process group of its own.
func (s *container) nginx(t *testing.T) int {
	t.Helper()
	for pid := range s.children(t) {
		if group, err := syscall.Getpgid(pid); err == nil && group == pid {
			return pid
		}
	}
	t.Fatal("no nginx runs")
	return 0
}

// hasTools: each name that leads to BusyBox is one that it knows.
func (s *container) hasTools(t *testing.T) {
	t.Helper()
	known := strings.Fields(s.mustExec(t, "busybox", "--list"))
	links, err := filepath.Glob(filepath.Join(s.root, "usr/bin/*"))
	if err != nil || len(links) < 40 {
		t.Errorf("the tools are %v, %v", links, err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == "busybox" && !slices.Contains(known, filepath.Base(link)) {
			t.Errorf("BusyBox knows no %s", filepath.Base(link))
		}
	}
}

// reapsAndRecovers: orphans of exec'd shells and of a killed master leave nothing
// behind, and nginx is started again.
func (s *container) reapsAndRecovers(t *testing.T) {
	t.Helper()
	s.mustExec(t, "sh", "-c", "for i in 1 2 3 4 5; do (exec sleep 600 >/dev/null 2>&1 &) ; done")
	before := s.children(t)
	if len(before) != 6 {
		t.Errorf("the children are %v, want nginx and five orphans", before)
	}
	for pid := range before {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	cluster.Eventually(t, "another nginx, and no process that was not reaped", func(context.Context) error {
		now := s.children(t)
		for pid, state := range now {
			if before[pid] != "" || state == "Z" || state == "X" {
				return fmt.Errorf("before %v, now %v", before, now)
			}
		}
		if len(now) != 1 {
			return fmt.Errorf("the children are %v, want nginx alone", now)
		}
		return nil
	})
	cluster.EventuallyStatus(t, s.Request("http://"+s.host+"/"), http.StatusOK)
}

// thought is how long a pod thinks about a slow request.
const thought = 3 * time.Second

// begin sends a slow request, and returns when nginx has begun with it: it asks for
// the body when it has chosen where the request goes. The channel has how it ended.
func begin(t *testing.T, slow cluster.Request) <-chan error {
	t.Helper()
	slow.Method, slow.Body = http.MethodPost, "x"
	slow.Header = http.Header{cluster.DelayHeader: {thought.String()}, "Expect": {"100-continue"}}
	begun, answered := make(chan struct{}), make(chan error, 1)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	go func() {
		answer, err := slow.Do(ctx)
		if err == nil && answer.Status != http.StatusOK {
			err = fmt.Errorf("status %d", answer.Status)
		}
		answered <- err
	}()
	select {
	case <-begun:
	case err := <-answered:
		t.Fatalf("the slow request ended before nginx began with it: %v", err)
	}
	return answered
}

// finishes: what is under way when the container is stopped is answered, and
// nothing is left.
func (s *container) finishes(t *testing.T, c *cluster.Cluster, stop func()) {
	t.Helper()
	slow := s.Request("http://" + s.host + "/")
	answered := begin(t, slow)
	began := time.Now()
	stop()
	if err := <-answered; err != nil {
		t.Errorf("the request that was under way: %v", err)
	}
	select {
	case <-s.Exited:
	case <-time.After(kit.Patience):
		t.Fatal("the container goes on")
	}
	if s.Err != nil {
		t.Errorf("it ended with %v", s.Err)
	}
	if took := time.Since(began); took < thought {
		t.Errorf("all ended %s after the slow request began, before it can have been answered", took)
	}
	if _, err := slow.Do(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after its end: %v", err)
	}
	if left := s.children(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
