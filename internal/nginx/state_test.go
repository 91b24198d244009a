package nginx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrepareState(t *testing.T) {
	t.Parallel()
	o := Options{StateDir: filepath.Join(stateDir(t), "state")}
	for range 2 { // it may be called again
		if err := PrepareState(o); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := filepath.Walk(o.StateDir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			got = append(got, strings.TrimPrefix(path, o.StateDir)+" "+info.Mode().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		" drwx--x--x", "/lua drwxr-xr-x", "/run drwx------", "/temp drwx--x--x", "/temp/body drwx------",
		"/temp/fastcgi drwx------", "/temp/proxy drwx------", "/temp/scgi drwx------", "/temp/uwsgi drwx------", "/trust drwx--x--x", "/users drwx--x--x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPrepareStateRefuses(t *testing.T) {
	t.Parallel()
	long := "/tmp/" + strings.Repeat("x", 90)
	tests := []struct{ name, dir, want string }{
		{"a relative path", "state", `state directory "state": want an absolute path`},
		{"a path too long for sockets", long, "state directory " + long + ": the path is too long for unix sockets: want at most 90 bytes"},
	}
	for _, test := range tests {
		err := PrepareState(Options{StateDir: test.dir})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	above := stateDir(t)
	if err := os.Chmod(above, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := os.Geteuid() + 54321
	if err := reachable(filepath.Join(above, "state"), "web", stranger); err == nil || !strings.Contains(err.Error(), "user web, which nginx's workers run as, cannot pass "+above) {
		t.Errorf("got %v", err)
	}
	if err := reachable(filepath.Join(above, "state"), "me", os.Geteuid()); err != nil {
		t.Errorf("its owner may pass: %v", err)
	}
}
