package rootfs

import (
	"bytes"
	"io/fs"
	"regexp"
	"testing"
)

// allowed matches the lines of an entry: calls of functions of modules, and comments. LuaJIT compiles
// neither the text of a file nor a call of require.
var allowed = regexp.MustCompile(`^(?:return |local (?:chain|_, key) = )?package\.loaded\["sluice\.[a-z_]+"\]\.[a-z_]+\([^()]*\)$|^return (?:chain|key)$|^-- `)

// TestEntriesOfRequests: what runs for a request calls functions of modules in package.loaded, and has
// no code of its own.
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
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); !others[name] && !allowed.Match(line) {
				t.Errorf("%s has code of its own: %s", name, line)
			}
		}
	}
}
