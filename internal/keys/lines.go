package keys

import (
	"fmt"
	"strings"

	"sluice/internal/model"
)

// mostLines is the maximum number of lines of one value.
const mostLines = 64

// readLines calls read with each line that is not empty, without the space around it.
func readLines(text []byte, read func(line string) error) error {
	count := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if count++; count > mostLines {
			return &specific{fmt.Sprintf("it has more than %d lines", mostLines)}
		}
		if !printable(line) {
			return errControl
		}
		if err := read(line); err != nil {
			return err
		}
	}
	return nil
}

// wrongLine is the error about one line.
func wrongLine(line, format string, a ...any) error {
	return &specific{"line " + model.Quoted(line) + ": " + fmt.Sprintf(format, a...)}
}
