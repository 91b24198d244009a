package injection

import (
	"os"
	"runtime/debug"
	"testing"
)

// Hundreds of thousands of small files are made and dropped: collecting the
// garbage less often saves a tenth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
