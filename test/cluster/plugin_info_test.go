package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/test/kit"
	"sluice/test/program"
)

// answersBy takes a shell script for the sluice of a pod's container.
func (c *Cluster) answersBy(t *testing.T, namespace, pod, script string) {
	t.Helper()
	folder := t.TempDir()
	program.Write(t, filepath.Join(folder, "sluice"), "#!/bin/sh\n"+script+"\n")
	c.Bind(t, namespace, pod, ControllerContainer, Program{
		Environment: []string{"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH")},
		Log:         kit.Log(filepath.Join(folder, "log")),
	})
}

// TestPluginInfoOfPods: what one pod has to say is told while another one hangs,
// and where there is no Service.
func TestPluginInfoOfPods(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	ns := c.NewNamespace(t, "hangs")
	c.Apply(t, controllerDeployment(ns, "sluice-controller", 2))
	c.AwaitDeployment(t, ns, "sluice-controller")
	pods := c.Pods(t, ns, "sluice-controller")
	hangs, answers := pods[0].Name, pods[1].Name
	c.answersBy(t, ns, hangs, "exec sleep 600")
	c.answersBy(t, ns, answers, `echo '{"version":"1.2.3","nginx":{"version":"1.26.3"}}'`)
	as := call{kubeconfig: c.Kubeconfig(t, "who-waits", "system:masters")}
	got := as.run(t, "info", "--namespace", ns)
	if got.status != 1 || !strings.Contains(got.errs, hangs) || strings.Contains(got.errs, answers) || !strings.Contains(got.errs, "deadline exceeded") {
		t.Errorf("info gives the status %d and says %q, want the pod %s named", got.status, got.errs, hangs)
	}
	for _, text := range []string{"Service: -\n", "IP address: -\n", "CNAME: -\n", hangs + "   true    -         -", answers + "   true    1.2.3     1.26.3"} {
		if !strings.Contains(got.out, text) {
			t.Errorf("info prints\n%s, not %q", got.out, text)
		}
	}
	as.fails(t, []string{"info", "--namespace", ns, "--service", "sluice-controller"}, `no Service "sluice-controller"`, "--service names the one")
}
