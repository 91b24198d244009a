package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
)

// A command line that is wrong ends with 2 and says what may be meant and how to
// get help; a cluster that is not there is told in words.
func TestWhatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config")
	const away = "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n"
	if err := os.WriteFile(config, []byte(away), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		arguments string
		status    int
		want      string
	}{
		{"explian", 2, "error: unknown command \"explian\" for \"kubectl sluice\": did you mean explain?\nSee `kubectl sluice --help`.\n"},
		{"nothing", 2, "error: unknown command \"nothing\" for \"kubectl sluice\"\nSee `kubectl sluice --help`.\n"},
		{"explain", 2, "error: want a URL, such as https://shop.example/cart, with the method before it if it is not GET (got \"\")\nSee `kubectl sluice explain --help`.\n"},
		{"problems --nosuch", 2, "error: unknown flag: --nosuch\nSee `kubectl sluice problems --help`.\n"},
		{"ingresses --kubeconfig " + config, 1, "error: the cluster cannot be reached at http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused\n"},
		{"ingresses --server http://127.0.0.1:1", 1, "error: the cluster cannot be reached at http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused\n"},
		{"problems --kubeconfig " + config + " --server http://127.0.0.1:2", 1, "error: the cluster cannot be reached at http://127.0.0.1:2: dial tcp 127.0.0.1:2: connect: connection refused\n"},
	} {
		told(t, test.arguments, test.status, test.want)
	}
}

// That there is no kubeconfig is said only if none was found.
func TestNoKubeconfigIsTold(t *testing.T) {
	dir, tried := t.TempDir(), clientcmd.ClusterDefaults
	t.Cleanup(func() { clientcmd.ClusterDefaults = tried })
	clientcmd.ClusterDefaults.Server = "http://127.0.0.1:1"
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBECONFIG", filepath.Join(dir, "missing")+":"+filepath.Join(dir, "empty"))
	const away = "the cluster cannot be reached at http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused"
	told(t, "ingresses", 1, "error: no kubeconfig, or "+away+" (--kubeconfig, $KUBECONFIG or ~/.kube/config says where it is)\n")
	if err := os.WriteFile(filepath.Join(dir, "empty"), []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	told(t, "ingresses", 1, "error: "+away+"\n")
}

// told runs a command line, and compares its status and what it says of errors.
func told(t *testing.T, arguments string, status int, want string) {
	t.Helper()
	var out, errs bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs}
	if got := Main("test", streams, strings.Fields(arguments)); got != status || errs.String() != want || out.Len() > 0 {
		t.Errorf("%s: %d %q\n%s", arguments, got, out.String(), errs.String())
	}
}
