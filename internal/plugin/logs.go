package plugin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
)

const logsExample = `  # What the controller and its nginx said last, and go on saying
  kubectl sluice logs --tail 20 --follow

  # What they said in the last hour, with the time of each line
  kubectl sluice logs --since 1h --timestamps`

// logsFlags are those of kubectl logs.
type logsFlags struct {
	follow, timestamps, previous bool
	limit, tail                  int64
	sinceTime                    string
	since                        time.Duration
}

func logsCommand(s *session) *cobra.Command {
	var f logsFlags
	cmd := &cobra.Command{
		Use:     "logs",
		Aliases: []string{"log"},
		Short:   "Show the log of the controller and its nginx",
		Example: logsExample,
		Args:    noMore,
	}
	pods := s.podFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on showing what is logged, until Ctrl-C")
	flags.BoolVar(&f.timestamps, "timestamps", false, "put the time before each line")
	flags.BoolVarP(&f.previous, "previous", "p", false, "the log of the container that ran before, if it was started anew")
	flags.Int64Var(&f.limit, "limit-bytes", 0, "the most bytes to show")
	flags.Int64Var(&f.tail, "tail", -1, "the most lines to show, counted from the end; -1 for all")
	flags.StringVar(&f.sinceTime, "since-time", "", "only what was logged after a time, such as 2026-03-01T12:00:00Z")
	flags.DurationVar(&f.since, "since", 0, "only what was logged in the last so long, such as 5s, 2m or 3h")
	cmd.MarkFlagsMutuallyExclusive("since", "since-time")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		options, err := f.options(cmd, pods.container)
		if err != nil {
			return err
		}
		c, err := s.controller(cmd.Context(), pods)
		if err != nil {
			return err
		}
		stream, err := c.Stream(cmd.Context(), kube.Pods, kube.Subresource{Of: nameOf(c.pod), Name: "log"}, options)
		if err != nil {
			return c.said(err, "read the log of the container %q of the pod %s", c.container, nameOf(c.pod))
		}
		defer stream.Close()
		if err := copyLines(s.output(asText), stream); err != nil && cmd.Context().Err() == nil {
			return fmt.Errorf("read the log of the pod %s: %w", nameOf(c.pod), err)
		}
		return nil
	}
	return cmd
}

// options checks the flags. Those that are not given are not asked for.
func (f *logsFlags) options(cmd *cobra.Command, container string) (*corev1.PodLogOptions, error) {
	o := &corev1.PodLogOptions{Container: container, Follow: f.follow, Timestamps: f.timestamps, Previous: f.previous}
	given := cmd.Flags().Changed
	if given("limit-bytes") {
		if f.limit < 1 {
			return nil, flagError("limit-bytes", fmt.Errorf("want a number from 1 (got %d)", f.limit))
		}
		o.LimitBytes = &f.limit
	}
	if f.tail < -1 {
		return nil, flagError("tail", fmt.Errorf("want a number from 0, or -1 for all (got %d)", f.tail))
	}
	if f.tail >= 0 {
		o.TailLines = &f.tail
	}
	if given("since") {
		seconds := int64((f.since + time.Second - 1) / time.Second)
		if seconds < 1 {
			return nil, flagError("since", fmt.Errorf("want a duration such as 5s, 2m or 3h (got %q)", f.since))
		}
		o.SinceSeconds = &seconds
	}
	if given("since-time") {
		at, err := time.Parse(time.RFC3339, f.sinceTime)
		if err != nil {
			return nil, flagError("since-time", fmt.Errorf("want a time such as 2026-03-01T12:00:00Z (got %q)", f.sinceTime))
		}
		o.SinceTime = &metav1.Time{Time: at}
	}
	return o, nil
}

// copyLines copies whole lines as they come, so that no character is cut in two.
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

// flagError says which flag is wrong.
func flagError(name string, err error) error { return fmt.Errorf("--%s: %w", name, err) }
