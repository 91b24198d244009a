package main

import (
	"bufio"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"sluice/internal/model"
)

// isTerminal says whether people see what is written.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(file.Fd()), unix.TCGETS)
	return err == nil
}

// copyShown copies text as model.Lines shows it.
func copyShown(out io.Writer, in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if _, err := io.WriteString(out, model.Lines(line)); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
