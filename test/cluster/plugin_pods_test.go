package cluster

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	account := p.Account(t, p.system, "looker", Within(p.system,
		Allow("", []string{"pods"}, "get", "list"), Allow("", []string{"pods/exec"}, "create"), Allow("", []string{"pods/log"}, "get"), Allow("", []string{"services"}, "get"),
	), Everywhere(Allow("networking.k8s.io", []string{"ingresses"}, "list"), Allow("discovery.k8s.io", []string{"endpointslices"}, "list")))
	as := call{kubeconfig: account}
	for _, line := range []string{
		"routes", "problems -A", "conf", "backends", "certs", "general", "info", "logs --tail 1", "explain " + p.host() + "/", "ingresses -A", "exec -- true",
	} {
		as.must(t, slices.Concat([]string{"--namespace", p.system}, strings.Fields(line))...)
	}
	// With get as well, as docs/plugin.md has it, no second protocol is tried.
	p.Account(t, p.system, "looker-by-websocket", Within(p.system, Allow("", []string{"pods"}, "get", "list"), Allow("", []string{"pods/exec"}, "get", "create")))
	(call{kubeconfig: p.TokenKubeconfig(t, p.system, "looker-by-websocket")}).must(t, "routes", "--namespace", p.system)
	as.fails(t, []string{"conf"}, "forbidden", `list the pods of the namespace "default"`)
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
