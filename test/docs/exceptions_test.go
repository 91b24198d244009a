package docs

import (
	"fmt"
	"slices"
	"testing"
)

// exceptions are the blocks that are not run: the first line of each, by its page,
// and why.
var exceptions = []string{
	"README.md: make test: it is what runs this",
	"docs/image.md: ./build.sh image amd64: it fetches Debian's packages; make test-image does it",
	"docs/image.md: ./build.sh && docker build -f rootfs/Dockerfile -t sluice .: it needs a container engine",
}

// TestExceptions: no block is left out that is not listed here, and none is
// listed that is not left out.
func TestExceptions(t *testing.T) {
	t.Parallel()
	var found []string
	for _, page := range readPages(t) {
		for _, b := range page.Blocks {
			if b.Marks.NotRun == "" {
				continue
			}
			first := b.Text
			if commands := b.Commands(); len(commands) > 0 {
				first = commands[0].Text
			}
			found = append(found, fmt.Sprintf("%s: %s: %s", page.Path, first, b.Marks.NotRun))
			t.Log(found[len(found)-1])
		}
	}
	for _, one := range found {
		if !slices.Contains(exceptions, one) {
			t.Errorf("it is not run, and not listed here: %s", one)
		}
	}
	for _, one := range exceptions {
		if !slices.Contains(found, one) {
			t.Errorf("it is listed here, and no page has it: %s", one)
		}
	}
}
