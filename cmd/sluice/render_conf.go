package main

import (
	"errors"
	"io"

	"sluice/internal/render"
)

var errNothing = errors.New("nothing in the configuration was written by that")

// printConf prints the file, or only the lines that are selected, those that do not
// follow each other kept apart by a blank line.
func (r *rendered) printConf(out io.Writer, selected func(render.Origin) bool) error {
	if selected == nil {
		_, err := r.file.WriteTo(out)
		return err
	}
	found, err := r.file.WriteSelected(out, func(l render.Line) bool { return selected(l.Origin) })
	if err == nil && !found {
		err = errNothing
	}
	return err
}
