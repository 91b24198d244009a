package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/keys"
	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/templates"
)

// lintFlags are the flags of sluice lint.
type lintFlags struct {
	inputFlags
	userCluster
	output        string
	failOn        string
	ignored       []string
	assumeSecrets bool
	allowEmpty    bool
}

// never is the value of --fail-on with which findings do not affect the exit status.
const never = "never"

const lintLong = `Find mistakes and surprises in manifests or in the objects of a cluster. Lint changes nothing and needs no nginx.

Each finding is a line on standard output: FILE:LINE: SEVERITY: OBJECT: FIELD: TEXT [REASON]. LINE is the first line of the
document. Findings are in the order of files and documents. Standard error gets the flags and settings that were used, and the
number of findings; with -o json all is in one object. The severities:

  error    something is not served as written: left out, denied, invalid, in conflict, or without its Service or Secret;
           or it is not known how everything is served
  warning  it is served, but maybe not as its author expects: patterns that were not written as patterns, paths that no request
           reaches, unknown annotations
  note     worth knowing, but not wrong

Lint checks manifests as the controller would serve them. It takes flags such as --ingress-class from the command line, else from
the Deployment or DaemonSet of Sluice or ingress-nginx among the manifests, else the defaults. If neither has --configmap, the
settings are those of the ConfigMap named sluice, or with a name that ends in ingress-nginx-controller or sluice-controller.
` + "`sluice render` and `sluice explain`" + ` do the same.

Lint can read the output of "helm template" and "kubectl get -o yaml", but not the templates of Helm.

With --from-cluster, lint reads the objects with your kubeconfig, except Deployments. It reads only the names of Secrets; if you may
not list Secrets, all count as existing.

The exit status is
  0  no finding has the severity of --fail-on or a higher one
  1  a finding has, for example because no Ingress is served (see --allow-empty)
  2  the command line is wrong, or the manifests or the cluster cannot be read`

const lintExample = `  sluice lint -f docs/examples/shop --configmap shop/sluice
  kubectl get ingress,ingressclass,services,endpointslices,secrets,configmaps -A -o yaml | sluice lint -f -
  helm template . | sluice lint -f - -f cluster/classes.yaml --ingress-class internal --assume-secrets
  sluice lint --from-cluster --context staging

  # In CI: findings as JSON, and only errors stop the build.
  sluice lint -f deploy -o json --fail-on error > findings.json`

func lintCommand() *cobra.Command {
	var flags lintFlags
	command := &cobra.Command{
		Use:     "lint -f MANIFESTS | --from-cluster",
		Short:   "Find mistakes and surprises in manifests or a cluster",
		Long:    lintLong,
		Example: lintExample,
		Args:    onlyFlags("manifests are given with -f"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lintManifests(cmd.Context(), &flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.inputFlags.add(command.Flags())
	flags.userCluster.add(command.Flags(), "check")
	command.Flags().StringSliceVar(&flags.ignored, "ignore", nil, "leave out findings with this reason, such as Unread; may be given several times")
	command.Flags().BoolVar(&flags.assumeSecrets, "assume-secrets", false, "assume that Secrets exist that are not among the manifests")
	command.Flags().BoolVar(&flags.allowEmpty, "allow-empty", false, "allow manifests without a served Ingress")
	command.Flags().StringVarP(&flags.output, "output", "o", "text", "text or json")
	command.Flags().StringVar(&flags.failOn, "fail-on", string(lint.Warning), "the lowest severity that makes the exit status 1: error, warning, note or never")
	return command
}

func lintManifests(ctx context.Context, f *lintFlags, out, diagnostics io.Writer) error {
	if err := f.validate(); err != nil {
		return usage(err)
	}
	in, options, err := f.look(ctx)
	if err != nil {
		return &exitError{status: usageStatus, err: err}
	}
	report := lint.Look(lint.Manifests{Objects: in.Objects, Documents: in.documents, Errors: in.Errors, Notes: in.Notes}, options)
	report.Settings, report.Controller, report.Flags = in.settings, in.controller, f.decisions()
	if err := f.print(report, out); err != nil {
		return usage(fmt.Errorf("print the findings: %w", err))
	}
	if f.output == "text" {
		in.say(diagnostics)
		if len(report.Findings) > few {
			fmt.Fprintln(diagnostics, byReason(report.Findings))
		}
		fmt.Fprintln(diagnostics, summary(report))
	}
	if f.failOn != never && report.Has(lint.Severity(f.failOn)) {
		return &exitError{status: 1}
	}
	return nil
}

func (f *lintFlags) validate() error {
	switch {
	case f.cluster == (len(f.files) > 0):
		return errors.New("want -f with a folder, a file or -, or --from-cluster: one of the two")
	case f.output != "text" && f.output != "json":
		return fmt.Errorf("-o: want text or json (got %q)", f.output)
	case f.failOn != never && !slices.Contains(lint.Severities, lint.Severity(f.failOn)):
		return fmt.Errorf("--fail-on: want error, warning, note or never (got %q)", f.failOn)
	}
	if err := f.userCluster.validate(); err != nil {
		return err
	}
	for _, reason := range f.ignored {
		if err := isReason(reason); err != nil {
			return err
		}
	}
	return nil
}

// isReason rejects unknown reasons of findings. It ignores case.
func isReason(name string) error {
	var names []string
	for _, reason := range lint.Reasons {
		if strings.EqualFold(name, string(reason)) {
			return nil
		}
		names = append(names, string(reason))
	}
	return fmt.Errorf("--ignore: want the reason of a finding: %s (got %q)%s", strings.Join(names, ", "), name, keys.DidYouMean(keys.NewNames(names).Nearest(name)))
}

// look reads the manifests or the cluster, and the options for serving them.
func (f *lintFlags) look(ctx context.Context) (input, lint.Options, error) {
	fail := func(err error) (input, lint.Options, error) { return input{}, lint.Options{}, err }
	set, err := render.Load(templates.Files)
	if err != nil {
		return fail(fmt.Errorf("load templates: %w", err))
	}
	if f.assumeSecrets {
		f.secretThere = func(snapshot.Name) bool { return true }
	}
	in, err := f.userCluster.load(ctx, &f.inputFlags)
	if err != nil {
		return fail(err)
	}
	return in, lint.Options{
		Now:       time.Now(),
		Translate: in.options, Templates: set, Environment: imageEnvironment(80, 443), Watch: in.watch, Known: in.problems,
		SecretThere: f.secretThere, Ignored: f.ignored, AllowEmpty: f.allowEmpty,
	}, nil
}

func (f *lintFlags) print(report lint.Report, out io.Writer) error {
	if f.output == "json" {
		return printJSON(out, report)
	}
	for _, finding := range report.Findings {
		if _, err := fmt.Fprintln(out, finding); err != nil {
			return err
		}
	}
	return nil
}

// summary returns "7 Ingresses, 5 of a served class and namespace: 1 error, 2 warnings, 0
// notes", and the number of ignored findings.
func summary(r lint.Report) string {
	text := model.Counted(r.Ingresses, "Ingress", "Ingresses")
	if r.Served < r.Ingresses {
		text += fmt.Sprintf(", %d of a served class and namespace", r.Served)
	}
	text += ": " + model.Counted(r.Errors, "error", "errors") + ", " + model.Counted(r.Warnings, "warning", "warnings") + ", " + model.Counted(r.Notes, "note", "notes")
	if r.Ignored > 0 {
		text += fmt.Sprintf("; %d ignored", r.Ignored)
	}
	return text
}

// few is the number of findings up to which no counts by reason are needed.
const few = 10

// byReason returns "by reason: 12 NotFound, 3 Unread", the most frequent first. These are
// values for --ignore.
func byReason(findings []lint.Finding) string {
	counts := map[model.Reason]int{}
	for _, f := range findings {
		counts[f.Reason]++
	}
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b model.Reason) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(string(a), string(b)))
	})
	parts := make([]string, len(reasons))
	for i, reason := range reasons {
		parts[i] = fmt.Sprintf("%d %s", counts[reason], reason)
	}
	return "by reason: " + strings.Join(parts, ", ")
}
