//go:build image

package real

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/test/cluster"
	"sluice/test/kit"
)

// checkout is the root of the checkout, from the folder that go test runs in.
func checkout(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// plugin is the kubectl plugin, built once beside the sluice under test.
var plugin = sync.OnceValue(func() error {
	_, err := kit.BuildPlugin(cluster.SluicePath())
	return err
})

// environment is that of an administrator's shell, with kubectl, its plugin and helm.
func (w *world) environment(t testing.TB) []string {
	t.Helper()
	if err := plugin(); err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{os.Getenv("SLUICE_CLIENTS"), filepath.Dir(cluster.SluicePath()), os.Getenv("PATH")}, string(os.PathListSeparator))
	return append(os.Environ(), "KUBECONFIG="+w.admin, "PATH="+path, "HOME="+w.Dir())
}

// commandTime is the most that a command of an administrator takes; some wait for 5 minutes.
const commandTime = 6 * time.Minute

// try runs a program with an administrator's environment.
func (w *world) try(t testing.TB, arguments ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	command := exec.CommandContext(ctx, "env", arguments...) // which looks in the PATH of the environment
	command.Env = w.environment(t)
	var output, errs bytes.Buffer
	command.Stdout, command.Stderr = &output, &errs
	if err := command.Run(); err != nil {
		return output.String(), fmt.Errorf("%s: %w: %s", strings.Join(arguments, " "), err, errs.String())
	}
	return output.String(), nil
}

func (w *world) must(t testing.TB, arguments ...string) string {
	t.Helper()
	output, err := w.try(t, arguments...)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return output
}

func (w *world) kubectl(t testing.TB, arguments ...string) string {
	t.Helper()
	return w.must(t, append([]string{"kubectl"}, arguments...)...)
}

// helm runs a command of helm for a release of the checkout's chart.
func (w *world) helm(t testing.TB, arguments ...string) string {
	t.Helper()
	return w.must(t, append([]string{"helm"}, arguments...)...)
}
