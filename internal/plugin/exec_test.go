package plugin

import (
	"slices"
	"strings"
	"testing"
)

// TestExecExample: what the help runs in the container is in the image, which has
// no bash.
func TestExecExample(t *testing.T) {
	t.Parallel()
	inImage := []string{"sluice", "sh"}
	programs := 0
	for line := range strings.Lines(execExample) {
		_, command, found := strings.Cut(line, " -- ")
		if !found {
			continue
		}
		programs++
		if program := strings.Fields(command)[0]; !slices.Contains(inImage, program) {
			t.Errorf("the help runs %q, want one of %q", program, inImage)
		}
	}
	if programs != 2 {
		t.Errorf("%d programs are run, want 2", programs)
	}
}
