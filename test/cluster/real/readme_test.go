//go:build image

package real

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/test/pages"
	"sluice/test/program"
)

// section is the part of the README that is done here, as printed.
var section = regexp.MustCompile(`(?ms)^## In a cluster\n(.*?)^## `)

// TestReadme: what the README says of a cluster, from the push of the image to the
// answer, in a namespace that enforces the standard restricted. Only the image is
// built before.
func TestReadme(t *testing.T) {
	w := theWorld(t)
	w.kubectl(t, "create", "namespace", "sluice")
	w.kubectl(t, "label", "namespace", "sluice", "pod-security.kubernetes.io/enforce=restricted")
	content, err := os.ReadFile(filepath.Join(checkout(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := section.FindStringSubmatch(string(content))
	if text == nil {
		t.Fatal("the README has no section \"In a cluster\"")
	}
	commands, expected := script(t, text[1])
	t.Cleanup(func() {
		(&release{w, "sluice", "sluice-controller"}).remove(t)
		w.kubectl(t, "delete", "--ignore-not-found", "deployment,service,ingress", "web")
	})
	began := time.Now()
	output := w.bash(t, commands)
	t.Logf("done in %.1f s", time.Since(began).Seconds())
	for _, want := range expected {
		if !strings.Contains(podName.ReplaceAllString(output, "POD"), podName.ReplaceAllString(want, "POD")) {
			t.Errorf("the README prints\n%s\nand this was printed:\n%s", want, output)
		}
	}
	if len(expected) != 2 {
		t.Errorf("the README shows what %d commands print, want 2: mend this test", len(expected))
	}
	w.isContained(t, "sluice", "sluice-controller", "/etc", "/usr", "/var/lib", "/var/cache")
	for _, folder := range []string{"/tmp", "/var/cache/nginx"} {
		w.kubectl(t, "exec", "--namespace", "sluice", "deployment/sluice-controller", "--", "touch", folder+"/written")
	}
	w.answersAtNodePort(t, "sluice", "sluice-controller")
}

// podName is the part of a pod's name that differs from one to the next.
var podName = regexp.MustCompile(`sluice-controller-[0-9a-z]+-[0-9a-z]{5}`)

// script makes a script of the commands of the section, and gives what they are to print.
func script(t *testing.T, text string) (script string, expected []string) {
	t.Helper()
	page, faults := pages.Parse("README.md", text)
	for _, f := range faults {
		t.Error(f)
	}
	for _, b := range page.Blocks {
		if b.Marks.File != "" {
			script += "cat >" + b.Marks.File + " <<'END'\n" + b.Text + "\nEND\n"
		}
		for _, c := range b.Commands() {
			script += c.Text + "\n"
			if c.Shown != nil {
				expected = append(expected, strings.Join(c.Shown, "\n"))
			}
		}
	}
	return script, expected
}

// bash runs a script in a folder that has what it needs of the checkout. build.sh has
// been run.
func (w *world) bash(t *testing.T, script string) string {
	t.Helper()
	folder := t.TempDir()
	git := strings.TrimSpace(mustRun(t, "git", "-C", checkout(t), "rev-parse", "--absolute-git-dir"))
	build := "#!/bin/sh\nmkdir -p dist\ncp \"$SLUICE_IMAGE\" \"dist/sluice-$(git describe --always --dirty --tags)-$2.oci.tar\"\n"
	program.Write(t, filepath.Join(folder, "build.sh"), build)
	if err := os.Symlink(filepath.Join(checkout(t), "charts"), filepath.Join(folder, "charts")); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("bash", "-c", "set -euo pipefail\n"+script)
	command.Dir = folder
	command.Env = append(w.environment(t), "GIT_DIR="+git, "GIT_WORK_TREE="+checkout(t))
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, w.trouble(t))
	}
	return string(output)
}

// trouble tells what may have gone wrong with pods.
func (w *world) trouble(t *testing.T) string {
	t.Helper()
	pods, _ := w.try(t, "kubectl", "get", "pods,services", "--all-namespaces", "--output", "wide")
	events, _ := w.try(t, "kubectl", "get", "events", "--all-namespaces", "--sort-by=.lastTimestamp")
	return pods + events
}
