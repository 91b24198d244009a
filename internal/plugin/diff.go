package plugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
)

const diffExample = `  # What a file would change
  kubectl sluice diff -f new.yaml

  # For a pull request
  kubectl sluice diff -R -f deploy -o markdown > comment.md

  # What the output of another program would change
  helm template . | kubectl sluice diff -f -`

// The exit statuses of diff(1), as in kubectl diff.
const (
	diffChanged = 1
	diffFailed  = 2
)

func diffCommand(s *session) *cobra.Command {
	var files []string
	var recursive bool
	cmd := &cobra.Command{
		Use:   "diff -f FILE",
		Short: "Show what manifests would change",
		Long: "Show what would change if manifests were applied: routes, requests that go elsewhere, certificates, Problems, and the lines of\n" +
			"nginx.conf by Ingress. The controller compares what it serves with the same and these manifests. Nothing is applied.\n" +
			"The exit status is 0 if nothing changes, 1 if something changes, and 2 for an error.",
		Example: diffExample,
		Args:    noMore,
	}
	pods, f := s.podFlags(cmd), addFormat(cmd, asText, asMarkdown, asJSON, asYAML)
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "file or folder with manifests, or - for the standard input; may be given several times")
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "also read the folders in a folder")
	_ = cmd.MarkFlagFilename("filename", manifestEndings...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		body, err := s.manifests(files, recursive)
		if err != nil {
			return &statusError{diffFailed, err}
		}
		changed, err := s.differ(cmd, pods, f.chosen, body)
		switch {
		case err != nil:
			return &statusError{diffFailed, err}
		case changed:
			return &statusError{diffChanged, nil}
		}
		return nil
	}
	return cmd
}

// statusError is an error with an exit status. Without err, nothing is printed.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// differ sends manifests to the controller and prints its answer.
func (s *session) differ(cmd *cobra.Command, pods *podFlags, format string, manifests []byte) (changed bool, err error) {
	ctx, cancel := bounded(cmd)
	defer cancel()
	c, err := s.controller(ctx, pods)
	if err != nil {
		return false, err
	}
	o, asked := s.output(format), format
	if o.isDocument() {
		asked = debugapi.JSON
	}
	answer, changed, err := c.diff(ctx, asked, manifests)
	if err != nil {
		return false, err
	}
	if o.isDocument() {
		return changed, o.document(answer)
	}
	_, err = o.Write(answer)
	return changed, err
}

// diff runs `sluice debug diff` in the container.
func (c *controller) diff(ctx context.Context, format string, manifests []byte) (answer []byte, changed bool, err error) {
	program := []string{"sluice", "debug", "diff", "--output=" + format, "--namespace=" + c.namespace}
	if folder := c.stateDir(); folder != "" {
		program = append(program, "--state-dir", folder)
	}
	cmd, err := c.execute(ctx, streams{stdin: true}, program)
	if err != nil {
		return nil, false, err
	}
	var body, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(manifests), &body, &complaint
	err = cmd.Run()
	text, ended := programError(complaint.String())
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return body.Bytes(), false, nil
	case ended && text == "" && errors.As(err, &exit) && exit.ExitCode() == diffChanged:
		return body.Bytes(), true, nil
	case ended:
		return nil, false, fmt.Errorf("pod %s/%s, `sluice debug diff`: %s", c.pod.Namespace, c.pod.Name, cmp.Or(strings.TrimPrefix(text, "sluice: "), err.Error()))
	}
	return nil, false, c.explained(failure(ctx, err, complaint.String()), "run `sluice debug diff` in the container %q of the pod %s/%s", c.container, c.pod.Namespace, c.pod.Name)
}

// manifestEndings are those of files that are read from folders, as by kubectl.
var manifestEndings = []string{"json", "yaml", "yml"}

// manifests reads files and folders into one text of many documents.
func (s *session) manifests(paths []string, recursive bool) ([]byte, error) {
	if len(paths) == 0 {
		return nil, errors.New("want -f with a file or folder of manifests, or - for the standard input (got nothing)")
	}
	var all bytes.Buffer
	add := func(name string, from io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(from, debugapi.MostManifests+1))
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		all.Write(text)
		all.WriteString("\n---\n")
		if all.Len() > debugapi.MostManifests {
			return fmt.Errorf("%s: want at most %d MiB of manifests", name, debugapi.MostManifests>>20)
		}
		return nil
	}
	for _, path := range paths {
		if path == "-" {
			if err := add("the standard input", s.streams.In); err != nil {
				return nil, err
			}
			continue
		}
		names, err := filesIn(path, recursive)
		if err != nil {
			return nil, fmt.Errorf("-f: %w", err)
		}
		for _, name := range names {
			file, err := os.Open(name)
			if err != nil {
				return nil, fmt.Errorf("-f: %w", err)
			}
			err = errors.Join(add(name, file), file.Close())
			if err != nil {
				return nil, err
			}
		}
	}
	return all.Bytes(), nil
}

// filesIn returns a file, or the manifests of a folder, sorted.
func filesIn(path string, recursive bool) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var names []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != path && !recursive:
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains(manifestEndings, strings.TrimPrefix(filepath.Ext(name), ".")):
			names = append(names, name)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		return nil, fmt.Errorf("%s: want files that end in .%s (got none)", path, strings.Join(manifestEndings, ", ."))
	}
	return names, err
}
