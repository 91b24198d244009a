package golden

import (
	"path/filepath"
	"testing"

	"sluice/internal/cluster"
)

// A source of a cluster drops what nobody reads: every case comes out the same
// without it.
func TestNothingIsStrippedThatIsRead(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c := readCase(t, path)
			all := c.manifests(t).Objects
			options := c.options(t, all)
			config, problems := translated(all, options)
			few := cluster.Stripped(all)
			few.Endpoints = all.Endpoints // which an API server mirrors itself
			without, others := translated(few, options)
			if diff := difference(config, without); diff != "" {
				t.Errorf("without what is stripped:\n%s", diff)
			}
			if diff := difference(problems, others); diff != "" {
				t.Errorf("problems without what is stripped:\n%s", diff)
			}
		})
	}
}
