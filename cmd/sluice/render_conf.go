package main

import (
	"bytes"
	"fmt"
	"io"

	"sluice/internal/render"
)

// printConf prints the file, or only the lines that are selected, with their
// line numbers kept apart by a blank line.
func (r *rendered) printConf(out io.Writer, selected func(render.Origin) bool) error {
	if selected == nil {
		_, err := r.file.WriteTo(out)
		return err
	}
	lines := bytes.SplitAfter(r.file.Bytes(), []byte("\n"))
	found, last := false, 0
	for number := 1; number <= len(lines); number++ {
		origin, ok := r.file.Origin(number)
		if !ok || !selected(origin) {
			continue
		}
		if last != 0 && number != last+1 {
			fmt.Fprintln(out)
		}
		if _, err := out.Write(lines[number-1]); err != nil {
			return err
		}
		found, last = true, number
	}
	if !found {
		return fmt.Errorf("nothing in the configuration was written by that")
	}
	return nil
}
