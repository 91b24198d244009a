package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
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
		{"explain", 2, "error: accepts between 1 and 2 arg(s), received 0\nSee `kubectl sluice explain --help`.\n"},
		{"problems --nosuch", 2, "error: unknown flag: --nosuch\nSee `kubectl sluice problems --help`.\n"},
		{"ingresses --kubeconfig " + config, 1, "error: no kubeconfig, or the cluster cannot be reached at http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused (--kubeconfig, $KUBECONFIG or ~/.kube/config says where it is)\n"},
	} {
		var out, errs bytes.Buffer
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs}
		if status := Main("test", streams, strings.Fields(test.arguments)); status != test.status || errs.String() != test.want {
			t.Errorf("%s: %d\n%s", test.arguments, status, errs.String())
		}
	}
}
