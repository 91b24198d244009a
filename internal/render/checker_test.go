package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// A Checker says what Render says, after any change.
func TestCheckerSaysWhatRenderSays(t *testing.T) {
	t.Parallel()
	loaded, static, e := load(t), shopStatic(3), testEnvironment()
	static.Servers[2].Locations[0].Rewrite = &model.Rewrite{Pattern: "a", Target: "\n"}
	checker := NewChecker(loaded, e)
	step := func(name string, problems int) {
		t.Helper()
		_, want := loaded.Render(static, e, nil)
		if diff := cmp.Diff(want, checker.Problems(static)); diff != "" || len(want) != problems {
			t.Errorf("%s: %d Problems\n%s", name, len(want), diff)
		}
	}
	step("first", 1)
	step("the same again", 1)
	static.Servers = slices.Insert(static.Servers, 1, shopServer(77))
	static.Servers[1].Locations[0].Rewrite = &model.Rewrite{Pattern: "b", Target: "\n"}
	step("one more", 2)
	static.Servers = slices.Delete(static.Servers, 3, 4)
	step("one less", 1)
	values, _ := settings.Read(nil)
	values.ServersSnippet.Text = "location = /api { return 204; }"
	static.Blocks = values.Blocks()
	step("a snippet that answers at a path of each server", 3)
}
