package render

import (
	"io/fs"
	"regexp"
	"testing"

	"sluice/rootfs"
	"sluice/templates"
)

// TestVariablesOfLuaAreReserved: no snippet sets a variable that our Lua reads or sets.
func TestVariablesOfLuaAreReserved(t *testing.T) {
	t.Parallel()
	loaded, err := Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	read := regexp.MustCompile(`\bvar\.([a-z_]+)`)
	found := 0
	err = fs.WalkDir(rootfs.Lua, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(path) < 4 || path[len(path)-4:] != ".lua" {
			return err
		}
		text, err := fs.ReadFile(rootfs.Lua, path)
		for _, m := range read.FindAllSubmatch(text, -1) {
			found++
			if name := string(m[1]); !loaded.reserved(name) {
				t.Errorf("%s: a snippet may set $%s", path, name)
			}
		}
		return err
	})
	if err != nil || found < 20 {
		t.Errorf("%d variables found, error %v", found, err)
	}
}

// A template prints the names of these from the model, so it does not name them itself.
func TestComputedVariablesAreReserved(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	for _, name := range []string{"escaped_request_uri", "external_auth_key", "limits_hash", "opentelemetry"} {
		if !loaded.reserved(name) {
			t.Errorf("a snippet may set $%s", name)
		}
	}
}
