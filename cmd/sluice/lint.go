package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"sluice/internal/lint"
	"sluice/internal/manifest"
	"sluice/internal/render"
	"sluice/templates"
)

// lintFlags are the flags of sluice lint besides those of translateFlags.
type lintFlags struct {
	translateFlags
	file   string
	output string
	failOn string
}

// never is the value of --fail-on by which findings do not count.
const never = "never"

const lintLong = `Find what is wrong with manifests, and what is not wrong but may surprise, without a cluster or an nginx.

Each finding is a line: FILE:LINE: SEVERITY: OBJECT: FIELD: TEXT [REASON], where LINE is that on which the
document begins. What was counted is said on standard error. The severities:

  error    something is not served as it is written: left out, denied, invalid, in conflict, or without its Service or Secret
  warning  it is served, but not as its author may expect: patterns that nobody wrote, paths that no request reaches, annotations
           that nobody reads
  note     worth knowing, and nothing is wrong with it

The exit status is 0 if nothing weighs as much as --fail-on, 1 if something does, and 2 if lint could not run.`

const lintExample = `  sluice lint -f docs/examples/shop --configmap shop/sluice
  kubectl get ingress,ingressclass,services,endpointslices,secrets,configmaps -A -o yaml | sluice lint -f -
  helm template . | sluice lint -f - --ingress-class internal

  # In CI: findings as JSON, and only errors stop the build.
  sluice lint -f deploy -o json --fail-on error > findings.json`

func lintCommand() *cobra.Command {
	var flags lintFlags
	command := &cobra.Command{
		Use:     "lint -f MANIFESTS",
		Short:   "Find what is wrong or surprising in manifests, without a cluster or an nginx",
		Long:    lintLong,
		Example: lintExample,
		Args: func(cmd *cobra.Command, args []string) error {
			return unable(cobra.NoArgs(cmd, args))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lintManifests(cmd.Context(), &flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unable(err) })
	flags.translateFlags.add(command.Flags())
	command.Flags().StringVarP(&flags.file, "filename", "f", "", "folder, file or - (standard input) with the manifests; required")
	command.Flags().StringVarP(&flags.output, "output", "o", "text", "text or json")
	command.Flags().StringVar(&flags.failOn, "fail-on", string(lint.Warning), "the lightest severity that makes the exit status 1: error, warning, note or never")
	return command
}

// unable is an error for which lint could not run.
func unable(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{status: 2, err: err}
}

func lintManifests(ctx context.Context, f *lintFlags, out, diagnostics io.Writer) error {
	if err := f.validate(); err != nil {
		return unable(err)
	}
	manifests, options, err := f.load(ctx)
	if err != nil {
		return unable(err)
	}
	report := lint.Look(manifests, options)
	if err := f.print(report, out); err != nil {
		return unable(fmt.Errorf("print the findings: %w", err))
	}
	if f.output == "text" {
		fmt.Fprintln(diagnostics, counted(len(manifests.Objects.Ingresses), "Ingress", "Ingresses")+":", summary(report))
	}
	if f.failOn != never && report.Has(lint.Severity(f.failOn)) {
		return &exitError{status: 1}
	}
	return nil
}

func (f *lintFlags) validate() error {
	switch {
	case f.file == "":
		return errors.New("-f: want a folder, a file or - (got nothing)")
	case f.output != "text" && f.output != "json":
		return fmt.Errorf("-o: want text or json (got %q)", f.output)
	case f.failOn != never && !slices.Contains(lint.Severities, lint.Severity(f.failOn)):
		return fmt.Errorf("--fail-on: want error, warning, note or never (got %q)", f.failOn)
	}
	return nil
}

// load reads the manifests and what decides how they are served.
func (f *lintFlags) load(ctx context.Context) (lint.Manifests, lint.Options, error) {
	fail := func(err error) (lint.Manifests, lint.Options, error) { return lint.Manifests{}, lint.Options{}, err }
	translation, err := f.options()
	if err != nil {
		return fail(err)
	}
	set, err := render.Load(templates.Files)
	if err != nil {
		return fail(fmt.Errorf("load templates: %w", err))
	}
	source, err := manifest.Open(f.file, slog.New(slog.DiscardHandler))
	if err != nil {
		return fail(err)
	}
	loaded, err := source.Load(ctx)
	if err != nil {
		return fail(err)
	}
	manifests := lint.Manifests{Objects: loaded.Objects, Documents: source.Documents(), Errors: loaded.Errors, Notes: loaded.Notes}
	return manifests, lint.Options{Translate: translation, Templates: set, Environment: imageEnvironment(80, 443)}, nil
}

func (f *lintFlags) print(report lint.Report, out io.Writer) error {
	if f.output == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	for _, finding := range report.Findings {
		if _, err := fmt.Fprintln(out, finding); err != nil {
			return err
		}
	}
	return nil
}

// summary gives "1 error, 2 warnings, 0 notes".
func summary(r lint.Report) string {
	return counted(r.Errors, "error", "errors") + ", " + counted(r.Warnings, "warning", "warnings") + ", " + counted(r.Notes, "note", "notes")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
