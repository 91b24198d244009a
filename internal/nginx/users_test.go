package nginx

import (
	"os"
	"strings"
	"testing"

	"sluice/internal/model"
)

// Files of users are for their reader alone, are written once, and go when nothing
// names them any more; so does what a killed Sluice was writing.
func TestUserFiles(t *testing.T) {
	t.Parallel()
	o := Options{StateDir: stateDir(t)}
	if err := PrepareState(o); err != nil {
		t.Fatal(err)
	}
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
		{func() error { return WriteUsers(o, nil) }, ""},
		{func() error { return WriteUsers(o, []*model.UserFile{one, two}) }, "one two"},
		{func() error { return WriteUsers(o, []*model.UserFile{two}) }, "one two"},
		{func() error { return os.WriteFile(o.path(model.UsersDir, "three.new"), nil, 0o600) }, "one three.new two"},
		{func() error { return RetainUsers(o, []*model.UserFile{two}) }, "two"},
		{func() error { return RetainUsers(o, nil) }, ""},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := there(); got != step.want {
			t.Errorf("there are %q, want %q", got, step.want)
		}
	}
	if err := WriteUsers(o, []*model.UserFile{one}); err != nil {
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
