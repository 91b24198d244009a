package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

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

// mostLine is more than a line of any answer has.
const mostLine = 1 << 20

// copyShown copies text and escapes what does not print: a terminal would obey it,
// or show something else than what is there. Tabs and ends of lines stay.
func copyShown(out io.Writer, in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		text, end := line, ""
		if strings.HasSuffix(line, "\n") {
			text, end = line[:len(line)-1], "\n"
		}
		parts := strings.Split(text, "\t")
		for i, part := range parts {
			parts[i] = model.OneLine(part, mostLine)
		}
		if _, err := io.WriteString(out, strings.Join(parts, "\t")+end); err != nil {
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
