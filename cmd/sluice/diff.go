package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/diff"
	"sluice/internal/explain"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// diffFlags are the flags of sluice diff. Its files are those of both sides.
type diffFlags struct {
	inputFlags
	output     string
	allowEmpty bool
}

const diffLong = `Compare two sets of manifests by their effects, without a cluster or an nginx.

OLD and NEW are folders, files or - (standard input). -f adds manifests to both, such as IngressClasses and Services. Flags and
settings are found on each side as ` + "`sluice lint`" + ` finds them, so that a changed ConfigMap or Deployment shows its effects.

The differences:

  routes        gained (+), lost (-), moved to another backend (>), or with another behaviour (~)
  requests      examples of requests that another route takes now. They are made of the paths and patterns of both sides.
  certificates  names with another certificate: its fingerprint, names and end
  endpoints     of backends that both sides have
  problems      new ones, and those that are mended
  nginx.conf    the lines that differ, by the object that owns them

The exit status is
  0  nothing changes
  1  something changes
  2  the command line is wrong, the manifests cannot be read, or a side has no Ingress (see --allow-empty)`

const diffExample = `  sluice diff old new -f cluster/classes.yaml

  # The effects of the commits of a branch on the folder deploy
  mkdir old && git archive origin/main deploy | tar -x -C old
  sluice diff old/deploy deploy -o markdown > comment.md`

func diffCommand() *cobra.Command {
	var flags diffFlags
	command := &cobra.Command{
		Use:     "diff OLD NEW",
		Short:   "Compare two sets of manifests by their effects",
		Long:    diffLong,
		Example: diffExample,
		Args:    wantArguments(2, 2, "two folders or files with manifests, OLD and NEW"),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			changed, err := diffManifests(cmd.Context(), &flags, arguments, cmd.OutOrStdout(), cmd.ErrOrStderr())
			return diffStatus(changed, err)
		},
	}
	flags.inputFlags.add(command.Flags())
	command.Flags().Lookup("filename").Usage = "folder or file with manifests of both sides; may be given several times"
	command.Flags().BoolVar(&flags.allowEmpty, "allow-empty", false, "allow manifests without a served Ingress, on one side or on both")
	command.Flags().StringVarP(&flags.output, "output", "o", diffText, "text, json or markdown")
	return command
}

// diffStatus returns the error with the exit status of diff(1).
func diffStatus(changed bool, err error) error {
	switch {
	case err != nil:
		return &exitError{status: usageStatus, err: err}
	case changed:
		return &exitError{status: 1}
	}
	return nil
}

// The formats of a difference.
const (
	diffText     = "text"
	diffMarkdown = "markdown"
)

func diffManifests(ctx context.Context, f *diffFlags, paths []string, out, diagnostics io.Writer) (changed bool, err error) {
	if err := f.validate(paths); err != nil {
		return false, err
	}
	var sides [2]diff.Side
	var unread error
	for i, name := range []string{"old", "new"} {
		r, err := f.side(paths[i]).rendered(ctx, "", usualHTTPPort, usualHTTPSPort)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		r.input.say(&prefixed{diagnostics, name + ": "})
		unread = errors.Join(unread, r.input.sayUnread(&prefixed{diagnostics, name + ": "}))
		sides[i] = diff.Side{Input: explain.Input{Snapshot: r.snap, Options: r.input.options, Config: r.config, Problems: r.problems}, File: r.file}
	}
	if unread == nil && !f.allowEmpty {
		unread = wantSides(sides)
	}
	result := diff.Compare(sides[0], sides[1])
	if err := writeDifference(result, f.output, out); err != nil {
		return false, fmt.Errorf("print the differences: %w", err)
	}
	return result.Changed, unread
}

// wantSides returns an error if a side has no Ingress, or none of both sides is served.
func wantSides(sides [2]diff.Side) error {
	var unserved []error
	for i, name := range []string{"old", "new"} {
		err := wantServed(sides[i].Snapshot, sides[i].Options)
		if errors.Is(err, errNoIngress) {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			unserved = append(unserved, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(unserved) < len(sides) {
		return nil // the difference shows it
	}
	return unserved[0]
}

var (
	errNoIngress    = errors.New("no Ingress is among the manifests: name others, or allow it with --allow-empty")
	errNoneIsServed = errors.New("no Ingress among the manifests is of a class and namespace that are served: want --ingress-class, --controller-class and --watch-namespace of their controller, or --allow-empty")
)

// wantServed returns an error if no Ingress of a snapshot is served.
func wantServed(snap *snapshot.Snapshot, o translate.Options) error {
	isServed := func(object *networkingv1.Ingress) bool {
		ours, _ := translate.Accepts(snap, o, object)
		return ours
	}
	switch {
	case len(snap.Ingresses()) == 0:
		return errNoIngress
	case !slices.ContainsFunc(snap.Ingresses(), isServed):
		return errNoneIsServed
	}
	return nil
}

func writeDifference(r *diff.Result, format string, out io.Writer) error {
	switch format {
	case diffText:
		return r.WriteText(out)
	case diffMarkdown:
		return r.WriteMarkdown(out)
	}
	return printJSON(out, r)
}

// usualHTTPSPort is the port for HTTPS, which has no flag.
const usualHTTPSPort = 443

func (f *diffFlags) validate(paths []string) error {
	if err := validDifferenceFormat(f.output); err != nil {
		return err
	}
	if slices.Contains(f.files, "-") {
		return errors.New("-f -: want files that can be read twice: give - as OLD or NEW")
	}
	if paths[0] == paths[1] {
		return fmt.Errorf("want two different folders or files (got %q twice)", paths[0])
	}
	_, err := f.options()
	return err
}

func validDifferenceFormat(format string) error {
	if format != diffText && format != diffMarkdown && format != "json" {
		return fmt.Errorf("-o: want text, json or markdown (got %q)", format)
	}
	return nil
}

// side returns the input of one side: its own manifests and those of both, with the flags of
// the command line. The Deployment among its manifests decides about other flags.
func (f *diffFlags) side(path string) *inputFlags {
	side := &inputFlags{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	side.add(flags)
	decidingFlags(&inputFlags{}).VisitAll(func(deciding *pflag.Flag) {
		given := f.given.Lookup(deciding.Name)
		if !given.Changed {
			return
		}
		if list, is := given.Value.(pflag.SliceValue); is {
			_ = flags.Lookup(deciding.Name).Value.(pflag.SliceValue).Replace(list.GetSlice())
			flags.Lookup(deciding.Name).Changed = true
			return
		}
		_ = flags.Set(deciding.Name, given.Value.String()) // it was parsed before
	})
	side.files = append([]string{path}, f.files...)
	return side
}

// prefixed writes each line after a prefix. Each call has whole lines.
type prefixed struct {
	io.Writer
	prefix string
}

func (p *prefixed) Write(text []byte) (int, error) {
	_, err := io.WriteString(p.Writer, p.prefix+string(text))
	return len(text), err
}
