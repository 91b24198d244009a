package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// usageStatus is the exit status for a wrong command line.
const usageStatus = 2

// exitError is an error with the exit status. Without err, nothing is printed.
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

// usage marks an error of the command line; nil stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{status: usageStatus, err: err}
}

// carryOut runs a command line, prints its error and returns the exit status: that of an
// exitError, 2 if the command did not begin, because the command line is wrong, or 1.
func carryOut(root *cobra.Command, diagnostics io.Writer) int {
	began := false
	each(root, func(c *cobra.Command) {
		if run := c.RunE; run != nil {
			c.RunE = func(c *cobra.Command, arguments []string) error {
				began = true
				return run(c, arguments)
			}
		}
	})
	command, err := root.ExecuteC()
	if err == nil {
		return 0
	}
	if !began {
		err = usage(err)
	}
	return complain(diagnostics, command, err)
}

// complain prints an error of a command and returns the exit status.
func complain(diagnostics io.Writer, command *cobra.Command, err error) int {
	status := 1
	var exit *exitError
	if errors.As(err, &exit) {
		status = exit.status
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(diagnostics, "sluice:", text)
		if status == usageStatus {
			fmt.Fprintf(diagnostics, "See `%s --help`.\n", command.CommandPath())
		}
	}
	return status
}

// each calls do for a command and all its descendants.
func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, below := range c.Commands() {
		each(below, do)
	}
}
