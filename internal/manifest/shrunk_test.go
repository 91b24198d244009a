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
	if got := count(); got != 100 {
		t.Fatalf("%d objects at first", got)
	}
	for range 3 {
		must(t, os.WriteFile(path, []byte(docs(50)), 0o644))
		<-changes
		if got := count(); got != 100 {
			t.Errorf("%d objects while the file is written", got)
		}
		must(t, os.WriteFile(path, []byte(docs(101)), 0o644))
		<-changes
		if got := count(); got != 101 {
			t.Errorf("%d objects when it is written", got)
		}
		must(t, os.WriteFile(path, []byte(docs(100)), 0o644))
		for began := time.Now(); count() != 100; <-changes {
			if time.Since(began) > 5*time.Second {
				t.Fatal("what was taken out of a file stays")
			}
		}
	}
	write(t, path+".new", docs(20))
	must(t, os.Rename(path+".new", path))
	<-changes
	if got := count(); got != 20 {
		t.Errorf("%d objects of a file that was renamed into place", got)
	}
}
