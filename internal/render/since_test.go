package render

import (
	"strings"
	"testing"
)

func fileOf(parts ...string) *File {
	f := newFile(len(parts))
	for _, text := range parts {
		f.add(&chunk{text: []byte(text), lines: int32(strings.Count(text, "\n"))})
	}
	return f
}

// TestLinesSince counts lines wherever they are, and does not read shared parts.
func TestLinesSince(t *testing.T) {
	t.Parallel()
	before := fileOf("a\nb\n", "x\ny\n", "c\n")
	shared := &File{chunks: []*chunk{before.chunks[0], before.chunks[2], before.chunks[1]}}
	for name, test := range map[string]struct {
		now            *File
		added, removed int
	}{
		"the same":      {before, 0, 0},
		"equal parts":   {fileOf("a\nb\n", "x\ny\n", "c\n"), 0, 0},
		"moved":         {fileOf("c\ny\nx\n", "b\na\n"), 0, 0},
		"a line more":   {fileOf("a\nb\n", "x\nx\ny\n", "c\n"), 1, 0},
		"one replaced":  {fileOf("a\nb\n", "x\nz\n", "c\n"), 1, 1},
		"nothing left":  {fileOf(), 0, 5},
		"shared, moved": {shared, 0, 0},
	} {
		if added, removed := test.now.LinesSince(before); added != test.added || removed != test.removed {
			t.Errorf("%s: +%d -%d, want +%d -%d", name, added, removed, test.added, test.removed)
		}
	}
}
