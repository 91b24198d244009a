package plugin

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sluice/test/program"
)

// kubectlThat makes a kubectl that runs a script.
func kubectlThat(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of sh")
	}
	path := filepath.Join(t.TempDir(), "kubectl")
	program.Write(t, path, "#!/bin/sh\n"+script)
	return path
}

// The manifests are the standard input of `sluice debug diff` in the container, and its exit
// status tells whether something changes.
func TestDiffInTheContainer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		script, answer, err string
		changed             bool
	}{
		{`cat; echo "$@"`, "kind: X\nexec --namespace=edge --container=c --stdin=true --tty=false pod/p -- sluice debug diff --output=json --namespace=shop\n", "", false},
		{`echo changes; echo "command terminated with exit code 1" >&2; exit 1`, "changes\n", "", true},
		{`echo "sluice: want manifests
command terminated with exit code 2" >&2; exit 2`, "", "pod edge/p, `sluice debug diff`: want manifests", false},
		{`echo "command terminated with exit code 137" >&2; exit 137`, "", "pod edge/p, `sluice debug diff`: exit status 137", false},
		{`echo "error: no such pod" >&2; exit 1`, "", "in the container \"c\" of the pod edge/p: no such pod", false},
	} {
		c := inPod(t, "p", "c", "--kubectl="+kubectlThat(t, test.script))
		c.namespace = "shop"
		answer, changed, err := c.diff(t.Context(), asJSON, []byte("kind: X\n"))
		if err == nil && test.err != "" || err != nil && (test.err == "" || !strings.Contains(err.Error(), test.err)) || string(answer) != test.answer || changed != test.changed {
			t.Errorf("%s: %q, %t, %v", test.script, answer, changed, err)
		}
	}
}

// Of folders, manifests are read, those of folders below them with -R only.
func TestManifestsOfFolders(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"a.yaml": "a", "b.txt": "b", "c.json": "c", "below/d.yml": "d"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &session{}
	s.streams.In = strings.NewReader("in")
	for _, test := range []struct {
		paths     string
		recursive bool
		want, err string
	}{
		{folder, false, "a c", ""},
		{folder, true, "a d c", ""},
		{folder + "/b.txt -", false, "b in", ""},
		{"", false, "", "want -f with a file or folder"},
		{folder + "/none", false, "", "-f: stat "},
	} {
		body, err := s.manifests(strings.Fields(test.paths), test.recursive)
		got := strings.Join(strings.Fields(strings.ReplaceAll(string(body), "---", " ")), " ")
		if got != test.want && test.err == "" || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%+v: %q, %v", test, got, err)
		}
	}
}
