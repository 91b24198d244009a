package render

import (
	"bytes"
	"io"
	"iter"
)

// Line is a line of the file with its origin.
type Line struct {
	// Number is from 1, as nginx counts.
	Number int
	// Text includes the line end, and must not be changed.
	Text []byte
	Origin
	// InServer is set for the lines of servers of hosts, including the catch-all one,
	// whose Host is empty.
	InServer bool
}

// Lines returns the lines in order.
func (f *File) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		number := 0
		for _, c := range f.chunks {
			at, origin, next := int32(0), Origin{}, 0
			for text := range bytes.Lines(c.text) {
				for ; next < len(c.marks) && c.marks[next].line <= at; next++ {
					origin = c.origins[c.marks[next].origin]
				}
				at++
				number++
				if !yield(Line{Number: number, Text: text, Origin: origin, InServer: c.server}) {
					return
				}
			}
		}
	}
}

// LineCount is the number of lines.
func (f *File) LineCount() int { return int(f.lines) }

// WriteSelected writes the selected lines, with a blank line in each gap. found is false
// if there are none.
func (f *File) WriteSelected(w io.Writer, selected func(Line) bool) (found bool, err error) {
	last := 0
	for line := range f.Lines() {
		if !selected(line) {
			continue
		}
		text := line.Text
		if last != 0 && line.Number != last+1 {
			text = append([]byte{'\n'}, text...)
		}
		if _, err := w.Write(text); err != nil {
			return true, err
		}
		last = line.Number
	}
	return last != 0, nil
}
