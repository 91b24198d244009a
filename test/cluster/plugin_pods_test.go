package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/kit"
)

// pluginPods: which pod is asked, and that it is said when there was a choice.
func pluginPods(t *testing.T, p *pluginScene) {
	first, second := p.pods[0].Name, p.pods[1].Name
	asks := func(pod string, arguments ...string) {
		t.Helper()
		// The container's own environment does not tell which pod it is; the note does.
		got := p.run(t, append([]string{"exec", "--namespace", p.system}, append(arguments, "--", "true")...)...)
		if got.status != 0 || !strings.Contains(got.errs, "pod "+p.system+"/"+pod) {
			t.Errorf("%q: %+v, want the pod %s", arguments, got, pod)
		}
	}
	asks(first)
	asks(first, "--selector", "app=sluice-controller")
	p.SetReady(t, p.system, first, false)
	asks(second)
	p.SetReady(t, p.system, second, false)
	asks(first)
	if got := p.run(t, "general", "--namespace", p.system); !strings.Contains(got.errs, "of 2, 0 ready; --pod picks another") {
		t.Errorf("with no pod ready: %+v", got)
	}
	p.SetReady(t, p.system, first, true)
	p.SetReady(t, p.system, second, true)
	if got := p.run(t, "general", "--namespace", p.system, "--pod", second); got.errs != "" || got.status != 0 {
		t.Errorf("--pod says %+v", got)
	}
}

// TestPluginFindsControllers that are in another namespace, and those of a
// DaemonSet. None of them is bound, so that no more is asked of them.
func TestPluginFindsControllers(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "found")
	as := call{kubeconfig: c.Kubeconfig(t, "who-finds", "system:masters")}
	d := Deployment(ns, "edge-controller-found", 1)
	template := d.Spec.Template
	template.Spec.NodeName = "node-1"
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "edge-set-found"}, Spec: appsv1.DaemonSetSpec{Selector: d.Spec.Selector, Template: template}}
	c.Apply(t, d, set)
	c.AwaitDeployment(t, ns, "edge-controller-found")
	// The controller of DaemonSets does not run here, so its pod is made by hand.
	created, err := c.Admin().AppsV1().DaemonSets(ns).Get(t.Context(), set.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "edge-set-found-x", Labels: map[string]string{"of": "set"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(created, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}}, Spec: template.Spec}
	c.Apply(t, pod)
	for _, deployment := range []string{"edge-controller-found", "edge-set-found"} {
		got := as.run(t, "general", "--deployment", deployment, "--container", "echo")
		if !strings.Contains(got.errs, `there is none in the namespace "default"`) || !strings.Contains(got.errs, "stand-in") {
			t.Errorf("%s: %+v", deployment, got)
		}
	}
	as.fails(t, []string{"general", "--deployment", "edge-set-found", "--controller-namespace", "default"}, `in the namespace "default"`)
}

// TestPluginRights: what docs/plugin.md asks for is enough, for each command.
func TestPluginRights(t *testing.T) {
	p := newPluginScene(t, "plugin-rights")
	p.ApplyYAML(t, strings.ReplaceAll(rightsOnPage(t), "namespace: sluice\n", "namespace: "+p.system+"\n"))
	stranger := call{kubeconfig: p.Account(t, p.system, "stranger")}
	stranger.fails(t, []string{"routes", "--namespace", p.system}, "forbidden")
	as := call{kubeconfig: p.Account(t, p.system, "looker")}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: p.system, Name: "looker"}}
	p.Apply(t,
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: p.system, Name: "looker"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "sluice-plugin"}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "looker"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "sluice-plugin"}})
	for _, line := range []string{
		"routes", "problems -A", "conf", "backends", "certs", "general", "info", "logs --tail 1", "explain " + p.host() + "/", "ingresses -A", "exec -- true", "why-reloaded",
	} {
		as.must(t, slices.Concat([]string{"--namespace", p.system}, strings.Fields(line))...)
	}
	if _, body := as.serveUI(t, "--namespace", p.system).get(t, "table/backends"); !strings.Contains(body, p.name+"-web-80") {
		t.Errorf("the page: %s", body)
	}
	as.fails(t, []string{"top", "-A", "--namespace", p.system}, "requests are not counted: want --enable-metrics of the controller, which is controller.metrics.enabled of the chart")
	as.fails(t, []string{"conf"}, `list the pods of the namespace "default" (--namespace says where`, "forbidden")
}

// rightsOnPage gives the manifests of docs/plugin.md.
func rightsOnPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "plugin.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "```yaml\n")
	manifests, _, ended := strings.Cut(after, "```\n")
	if !found || !ended {
		t.Fatal("docs/plugin.md has no manifests")
	}
	return manifests
}

// TestPluginWithoutWebSockets: who may only create pods/exec, as kubectl asked for
// once, is let in by SPDY.
func TestPluginWithoutWebSockets(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "spdy")
	c.Apply(t, controllerDeployment(ns, "sluice-controller", 1))
	c.AwaitDeployment(t, ns, "sluice-controller")
	c.Bind(t, ns, c.Pods(t, ns, "sluice-controller")[0].Name, ControllerContainer, Program{Log: kit.Log(filepath.Join(t.TempDir(), "log"))})
	pods := Allow("", []string{"pods"}, "get", "list")
	for name, verbs := range map[string][]string{"spdy": {"create"}, "websocket": {"get", "create"}} {
		as := call{kubeconfig: c.Account(t, ns, name, Within(ns, pods, Allow("", []string{"pods/exec"}, verbs...)))}
		if got := as.must(t, "exec", "--namespace", ns, "--", "echo", "by", name); got != "by "+name+"\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	c.Apply(t, controllerService(ns))
	admin := call{kubeconfig: c.Kubeconfig(t, "who-informs", "system:masters")}
	got := admin.run(t, "info", "--namespace", ns)
	if !strings.Contains(got.out, "true    -         -") || !strings.Contains(got.errs, "has no program sluice") || got.status != 1 {
		t.Errorf("info of a pod that does not answer: %+v", got)
	}
	none := call{kubeconfig: c.Account(t, ns, "none", Within(ns, pods))}
	none.fails(t, []string{"exec", "--namespace", ns, "--", "true"}, "cannot create resource", "docs/plugin.md")
}

// pluginCompletion: values of flags come from the cluster.
func pluginCompletion(t *testing.T, p *pluginScene) {
	for line, want := range map[string]string{
		"routes --host www.plugin.":                          "www.plugin.example",
		"conf --ingress plugin/":                             "plugin/bad\nplugin/shop",
		"conf --namespace plugin-system --pod sluice-":       p.pods[0].Name + "\n" + p.pods[1].Name,
		"conf --namespace plugin-system --deployment sluice": "sluice-controller",
		"conf --namespace plugin-sys":                        p.system,
		"routes -o ":                                         "table\nwide\njson\nyaml",
	} {
		words := strings.Split(line, " ")
		got := p.must(t, append([]string{"__complete"}, words...)...)
		values, _, _ := strings.Cut(got, "\n:")
		if values != want {
			t.Errorf("%s: %q, want %q", line, values, want)
		}
	}
}
