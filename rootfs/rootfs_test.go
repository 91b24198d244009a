package rootfs

import (
	"bytes"
	"io/fs"
	"testing"
)

// TestEntriesOfRequests: what runs for a request takes its modules from package.loaded, because LuaJIT
// does not compile a call of require.
func TestEntriesOfRequests(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(Lua, "sluice/entry/*.lua")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	others := map[string]bool{ // those that run for no request of a client
		"sluice/entry/init.lua": true, "sluice/entry/init_worker.lua": true, "sluice/entry/exit_worker.lua": true, "sluice/entry/control.lua": true,
	}
	for _, name := range names {
		text, err := fs.ReadFile(Lua, name)
		if err != nil {
			t.Fatal(err)
		}
		if !others[name] && bytes.Contains(text, []byte("require(")) {
			t.Errorf("%s calls require", name)
		}
	}
}
