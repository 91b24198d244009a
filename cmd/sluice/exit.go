package main

import (
	"errors"
	"fmt"
	"io"
)

// exitError is an error with the status that the process ends with. Without err
// all has been said, and nothing is printed.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitStatus gives the status that the process ends with after an error, and
// prints the error: 1 unless it says otherwise, and 0 for none.
func exitStatus(err error, diagnostics io.Writer) int {
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(diagnostics, "sluice:", text)
	}
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.status
	}
	return 1
}
