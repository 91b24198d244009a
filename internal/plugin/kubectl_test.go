package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// inPod gives the controller in a pod, for a call with these flags.
func inPod(t *testing.T, pod, container string, flags ...string) *controller {
	t.Helper()
	s := newSession(genericiooptions.NewTestIOStreamsDiscard())
	of := pflag.NewFlagSet("plugin", pflag.ContinueOnError)
	s.addFlags(of)
	if err := of.Parse(flags); err != nil {
		t.Fatal(err)
	}
	return &controller{cluster: &cluster{session: s}, container: container, pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: pod}}}
}

// someProgram makes a file that can be run.
func someProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubectl")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKubectlArguments: the flags that were given are passed on, the namespace is
// that of the pod, and no name, value or argument of a program can be read as a flag.
func TestKubectlArguments(t *testing.T) {
	t.Parallel()
	path := someProgram(t)
	hostile := []string{"--kubeconfig=/evil", "-c", "--", "; rm -rf /", "$(id)"}
	c := inPod(t, "--token=x", "--all", "--kubectl", path, "--context", "--as=root", "-n", "shop", "--as-group", "a", "--as-group=b,c", "--insecure-skip-tls-verify")
	cmd, err := c.execute(t.Context(), streams{stdin: true}, hostile)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string{path, "exec", "--as-group=a", "--as-group=b,c", "--context=--as=root", "--insecure-skip-tls-verify=true", "--namespace=shop",
		"--namespace=edge", "--container=--all", "--stdin=true", "--tty=false", "pod/--token=x", "--"}, hostile...)
	if difference := cmp.Diff(want, cmd.Args); difference != "" {
		t.Error(difference)
	}
	if cmd.Path != path {
		t.Errorf("it runs %s", cmd.Path)
	}
}

// TestEveryConnectionFlag: whatever flag of kubectl the plugin has is passed on.
func TestEveryConnectionFlag(t *testing.T) {
	t.Parallel()
	s := newSession(genericiooptions.NewTestIOStreamsDiscard())
	s.flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "namespace" {
			return
		}
		value := map[string]string{"bool": "true"}[f.Value.Type()]
		if value == "" {
			value = "x"
		}
		flag := "--" + f.Name + "=" + value
		cmd, err := inPod(t, "p", "c", "--kubectl="+someProgram(t), flag).kubectl(t.Context(), "logs", nil)
		if err != nil || !slices.Contains(cmd.Args, flag) {
			t.Errorf("%s: %v, %v", flag, err, cmd)
		}
	})
}

// TestKubectlIsFound by the flag, by $KUBECTL, or on the PATH; else the error
// names all three.
func TestKubectlIsFound(t *testing.T) {
	byFlag, bySetting, onPath := someProgram(t), someProgram(t), someProgram(t)
	t.Setenv("PATH", t.TempDir())
	t.Setenv("KUBECTL", "")
	finds := func(want string, flags ...string) {
		t.Helper()
		if cmd, err := inPod(t, "p", "c", flags...).kubectl(t.Context(), "logs", nil); err != nil || cmd.Path != want {
			t.Errorf("%v, %v, want %s", cmd, err, want)
		}
	}
	_, err := inPod(t, "p", "c").kubectl(t.Context(), "logs", nil)
	const missing = `find kubectl: exec: "kubectl": executable file not found in `
	if err == nil || !strings.HasPrefix(err.Error(), missing) || !strings.HasSuffix(err.Error(), "(want it on the PATH, or its path in --kubectl or $KUBECTL)") {
		t.Errorf("without kubectl: %v", err)
	}
	t.Setenv("PATH", filepath.Dir(onPath))
	finds(onPath)
	t.Setenv("KUBECTL", bySetting)
	finds(bySetting)
	finds(byFlag, "--kubectl", byFlag)
}

func TestProgramError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		printed, text string
		ended         bool
	}{
		{"sluice: no such host\ncommand terminated with exit code 1\n", "sluice: no such host", true},
		{"command terminated with exit code 137\n", "", true},
		{"Error from server (Forbidden): pods \"x\" is forbidden\n", "Error from server (Forbidden): pods \"x\" is forbidden", false},
		{"command terminated with exit code 1\nand more\n", "command terminated with exit code 1\nand more", false},
	} {
		if text, ended := programError(test.printed); text != test.text || ended != test.ended {
			t.Errorf("%q: %q, %t", test.printed, text, ended)
		}
	}
}

// TestFailure: an error of kubectl is told in its words, and a timeout as that.
func TestFailure(t *testing.T) {
	t.Parallel()
	killed := &exec.Error{Name: "kubectl", Err: os.ErrProcessDone}
	if got := failure(t.Context(), killed, "error: no configuration\n").Error(); got != "no configuration" {
		t.Errorf("with a text: %q", got)
	}
	if got := failure(t.Context(), killed, "\n").Error(); !strings.HasPrefix(got, "kubectl: exec: ") {
		t.Errorf("without a text: %q", got)
	}
}
