package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// docs are so many documents.
func docs(count int) string {
	var text strings.Builder
	for n := range count {
		text.WriteString(doc(fmt.Sprintf("i%03d", n)) + "\n---\n")
	}
	return text.String()
}

// TestFileWrittenInPlaceLosesNothingMeanwhile: a file of 100 objects is seen with
// half of them while it is written anew. They are all there all the time; what is
// still missing after a second of quiet has gone.
func TestFileWrittenInPlaceLosesNothingMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "all.yaml")
	write(t, path, docs(100))
	s := open(t, dir)
	changes := watch(t, s)
	count := func() int {
		loaded, err := s.Load(t.Context())
		must(t, err)
		return loaded.Objects.Len()
	}
	// await wants no other count than before until there are so many.
	await := func(before, want int, when string) {
		t.Helper()
		began := time.Now()
		for got := count(); got != want; got = count() {
			if got != before || time.Since(began) > 2*time.Minute {
				t.Fatalf("%d objects %s, want %d", got, when, want)
			}
			<-changes
		}
	}
	await(100, 100, "at first")
	for range 3 {
		must(t, os.WriteFile(path, []byte(docs(50)), 0o644))
		<-changes
		await(100, 100, "while the file is written")
		must(t, os.WriteFile(path, []byte(docs(101)), 0o644))
		await(100, 101, "when it is written")
		must(t, os.WriteFile(path, []byte(docs(100)), 0o644))
		await(101, 100, "after something was taken out of it")
	}
	write(t, path+".new", docs(20))
	must(t, os.Rename(path+".new", path))
	await(100, 20, "of a file that was renamed into place")
}
