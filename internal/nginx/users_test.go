package nginx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/internal/model"
)

// Only their owner can read user files. They are written once, and removed when nothing
// names them any more, except while they are being written.
func TestUserFiles(t *testing.T) {
	t.Parallel()
	o := Options{StateDir: stateDir(t)}
	if err := PrepareState(o); err != nil {
		t.Fatal(err)
	}
	p := New(Install{}, o, nil)
	one, two := &model.UserFile{ID: "one", Content: []byte("ann:x\n")}, &model.UserFile{ID: "two", Content: []byte("bob:y\n")}
	there := func() string {
		entries, err := os.ReadDir(o.path(model.UsersDir))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s has the mode %v: %v", e.Name(), info.Mode(), err)
			}
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return p.WriteUsers(nil) }, ""},
		{func() error { return p.WriteUsers([]*model.UserFile{one, two}) }, "one two"},
		{func() error { return p.WriteUsers([]*model.UserFile{two}) }, "one two"},
		{func() error { return os.WriteFile(o.path(model.UsersDir, "three.new"), nil, 0o600) }, "one three.new two"},
		{func() error { return p.RetainUsers([]*model.UserFile{two}) }, "three.new two"},
		{func() error { return p.RetainUsers(nil) }, "three.new"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := there(); got != step.want {
			t.Errorf("there are %q, want %q", got, step.want)
		}
	}
	if err := p.WriteUsers([]*model.UserFile{one}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(o.path(model.UsersDir, "one")); err != nil || string(text) != "ann:x\n" {
		t.Errorf("it says %q: %v", text, err)
	}
	worker, err := workerID(o)
	if info, wrong := os.Stat(o.path(model.UsersDir, "one")); err != nil || wrong != nil || !ownedBy(info, worker) {
		t.Errorf("it is not the workers': %v %v", err, wrong)
	}
}

// Old files are removed while others are written, also one file by two at once, without
// disturbing each other.
func TestFilesAreWrittenWhileOldOnesGo(t *testing.T) {
	t.Parallel()
	o := Options{StateDir: stateDir(t)}
	if err := PrepareState(o); err != nil {
		t.Fatal(err)
	}
	p := New(Install{}, o, nil)
	for i := range 100 {
		files := []*model.UserFile{{ID: fmt.Sprint("f", i), Content: []byte("ann:x\n")}}
		wrote := make(chan error, 2)
		for range 2 {
			go func() { wrote <- p.WriteUsers(files) }()
		}
		if err := errors.Join(p.RetainUsers(files), <-wrote, <-wrote); err != nil {
			t.Fatal(err)
		}
	}
}

// Files of trusted authorities are removed by their paths.
func TestTrustFilesGo(t *testing.T) {
	t.Parallel()
	o := Options{StateDir: stateDir(t)}
	if err := PrepareState(o); err != nil {
		t.Fatal(err)
	}
	p := New(Install{}, o, nil)
	for _, name := range []string{"a.pem", "b.pem", "c.pem.new-1"} {
		if err := os.WriteFile(o.path(trustDir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.RetainTrust([]string{o.path(trustDir, "b.pem")}); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(o.path(trustDir, "*"))
	if want := []string{o.path(trustDir, "b.pem"), o.path(trustDir, "c.pem.new-1")}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}
