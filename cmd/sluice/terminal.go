package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"sluice/internal/model"
)

// isTerminal reports whether the output is a terminal.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

// copyShown copies text with model.Lines.
func copyShown(out io.Writer, in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, model.Lines(string(text)))
	return err
}
