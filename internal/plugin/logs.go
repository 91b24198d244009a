package plugin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const logsExample = `  # Follow the log of the controller and its nginx
  kubectl sluice logs --tail 20 --follow

  # Show the last hour, with the time of each line
  kubectl sluice logs --since 1h --timestamps`

func logsCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logs",
		Aliases: []string{"log"},
		Short:   "Show the log of the controller and its nginx",
		Long:    "Show the log of the controller and its nginx with kubectl logs.",
		Example: logsExample,
		Args:    noMore,
	}
	pods := s.podFlags(cmd)
	// These are flags of kubectl logs, which checks the values that checkLogs does
	// not.
	own := pflag.NewFlagSet("logs", pflag.ContinueOnError)
	own.BoolP("follow", "f", false, "follow the log until Ctrl-C")
	own.Bool("timestamps", false, "put the time before each line")
	own.BoolP("previous", "p", false, "the log of the previous container, after a restart")
	own.Int64("limit-bytes", 0, "the most bytes to show")
	own.Int64("tail", -1, "the most lines to show, counted from the end; -1 for all")
	own.String("since-time", "", "only lines after a time, such as 2026-03-01T12:00:00Z")
	own.Duration("since", 0, "only lines of the last such time, such as 5s, 2m or 3h")
	cmd.Flags().AddFlagSet(own)
	cmd.MarkFlagsMutuallyExclusive("since", "since-time")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkLogs(own); err != nil {
			return err
		}
		c, err := s.controller(cmd.Context(), pods)
		if err != nil {
			return err
		}
		return c.logs(cmd.Context(), given(own))
	}
	return cmd
}

// checkLogs rejects a time for which kubectl's error would not name the flag, and a
// limit that kubectl would ignore.
func checkLogs(flags *pflag.FlagSet) error {
	if since := flags.Lookup("since-time"); since.Changed {
		if _, err := time.Parse(time.RFC3339, since.Value.String()); err != nil {
			return flagError(since.Name, fmt.Errorf("want a time such as 2026-03-01T12:00:00Z (got %q)", since.Value))
		}
	}
	if limit, err := flags.GetInt64("limit-bytes"); err == nil && limit < 1 && flags.Lookup("limit-bytes").Changed {
		return flagError("limit-bytes", fmt.Errorf("want a number from 1 (got %d)", limit))
	}
	return nil
}

// logs prints the log of the controller's container until it ends or the user stops.
func (c *controller) logs(ctx context.Context, flags []string) error {
	cmd, err := c.kubectl(ctx, "logs", flags)
	if err != nil {
		return err
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	log, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run kubectl: %w", err)
	}
	err = copyLines(c.session.output(asText), log)
	if ended := cmd.Wait(); ended != nil {
		err = failure(ctx, ended, complaint.String())
	}
	if ctx.Err() != nil {
		return nil
	}
	return c.explained(err, "read the log of the container %q of the pod %s/%s", c.container, c.pod.Namespace, c.pod.Name)
}

// copyLines copies whole lines, so that no character is split.
func copyLines(to io.Writer, from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if _, failed := to.Write(line); failed != nil {
				return failed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// flagError adds the name of the flag to an error.
func flagError(name string, err error) error { return fmt.Errorf("--%s: %w", name, err) }
