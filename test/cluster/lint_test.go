package cluster

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// TestLintFromCluster: the objects of a cluster are looked at, and no content of a
// Secret is asked for. Secrets are missing that are; where their names may not be
// listed, all are taken as there.
func TestLintFromCluster(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "linted"
	c.Apply(t, Web(name, "web", 1)...)
	c.Apply(t, classOf(name), c.TLSSecret(t, name, "mine", "mine.example"),
		covered(ingressOf(name, name, "mine", Rule("mine.example", "/", "web", 80)), "mine", "mine.example"),
		covered(ingressOf(name, name, "late", Rule("late.example", "/", "web", 80)), "late", "late.example"))
	lint := func(kubeconfig string) string {
		command := exec.Command(SluicePath(), "lint", "--from-cluster", "--kubeconfig", kubeconfig, "--ingress-class", name, "--controller-class", controllerOf(name), "--ignore", "OtherClass", "--ignore", "Unserved", "--ignore", "SharedHost")
		var out bytes.Buffer
		command.Stdout, command.Stderr = &out, &out
		_ = command.Run() // the shared cluster has what other tests made
		return out.String()
	}
	kubeconfig, asked := overhear(t, c)
	const missing = "Secret linted/late does not exist"
	if got := lint(kubeconfig); !strings.Contains(got, missing) || strings.Contains(got, "Secret linted/mine") {
		t.Errorf("lint says\n%s", got)
	}
	for _, r := range asked() {
		if strings.Contains(r.URL.Path, "/secrets") && !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
			t.Errorf("content was asked for: %s", r.URL)
		}
	}
	account := c.Account(t, name, "reader", Everywhere(readAll()...))
	if got := lint(account); strings.Contains(got, "Secret linted/") || !strings.Contains(got, " Ingresses") {
		t.Errorf("without the right to list Secrets lint says\n%s", got)
	}
}
