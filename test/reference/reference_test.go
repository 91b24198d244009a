// Package reference writes the pages of docs/reference out of what the code
// knows: the tags of the keys, the comments of their structs, and the golden
// cases that use them. `make golden` writes them; the tests fail where a page is
// no longer what the code says, or one of its links leads nowhere.
package reference

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/test/markdown"
)

var update = flag.Bool("update", false, "write the pages anew")

const folder = "../../docs/reference/"

func TestPages(t *testing.T) {
	t.Parallel()
	b := readBook(t)
	for name, want := range map[string]string{"annotations.md": b.annotations(), "configmap.md": b.settings()} {
		want = markdown.Wrap(want)
		if *update {
			if err := os.WriteFile(folder+name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("docs/reference/%s is not what the code says; `make golden` writes it (-code +page):\n%s", name, diff)
		}
	}
}
