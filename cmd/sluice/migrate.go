package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"sluice/internal/lint"
	"sluice/internal/migrate"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/templates"
)

// migrateFlags are the flags of sluice migrate. Of those of lint, it has the ones that say
// what is read.
type migrateFlags struct {
	lintFlags
	overrides clientcmd.ConfigOverrides
	values    []string
	// shown is the only namespace whose Ingresses are shown; empty for all.
	shown string
	// unread is why the Deployments of the cluster could not be read.
	unread error
}

const migrateLong = `Report how Sluice would serve the Ingresses of an ingress-nginx. Migrate changes nothing and needs no nginx and no Sluice in the
cluster.

It reads Ingresses and the objects that they name, the ConfigMap with the settings, the flags of ingress-nginx's Deployment or DaemonSet,
and values of its Helm chart: from the cluster of your kubeconfig (--from-cluster), from manifests (-f), or from both. It reads only the
names of Secrets in a cluster. Each Ingress of the controller has one status, here from the best to the worst:

  ready      requests are answered as by ingress-nginx
  different  all paths are served, but something is answered otherwise; each difference names its row of docs/differences.md
  503        some or all paths answer 503, mostly because something that protects them cannot be honoured
  left-out   some or all paths are not served

Each item says what to do, and for snippets which annotations to write instead. A path that ingress-nginx does not serve either, for
example because its Service is missing, is no difference. Differences that depend on requests cannot be told from manifests; the report
lists them at the end. Ingresses without a class, or with one that is not there, are listed by name.

With -o html the report is one page without scripts that you can send to others.

The exit status is
  0  no Ingress has the status of --fail-on or a worse one, and everything was read
  1  an Ingress has; with --fail-on different also if no known controller serves an Ingress, or the chart refuses a value; with 503 or
     different also if a value closes every path; or something is not known: a file could not be read, the ConfigMap of the settings is
     missing, --from-cluster found no Deployment of ingress-nginx (give --configmap, or its manifests or values), or there is no Ingress
     (see --allow-empty)
  2  the command line is wrong, or the manifests or the cluster cannot be read`

const migrateExample = `  sluice migrate --from-cluster
  sluice migrate --from-cluster --context production -o html > report.html
  sluice migrate -f manifests --values values.yaml
  kubectl get ingress,ingressclass,services,endpointslices,configmaps,deployments -A -o yaml | sluice migrate -f - --assume-secrets

  # In CI: only paths that are not served stop the build.
  sluice migrate -f manifests --assume-secrets --fail-on 503 -o sarif > migrate.sarif`

// forms are the forms of the report.
var forms = map[string]func(*migrate.Report, io.Writer) error{
	"text": (*migrate.Report).Text, "csv": (*migrate.Report).CSV, "html": (*migrate.Report).HTML, "sarif": (*migrate.Report).SARIF,
	"json": func(r *migrate.Report, out io.Writer) error { return printJSON(out, r) },
}

func migrateCommand() *cobra.Command {
	var flags migrateFlags
	command := &cobra.Command{
		Use:     "migrate --from-cluster | -f MANIFESTS",
		Short:   "Report what changes for each Ingress of an ingress-nginx",
		Long:    migrateLong,
		Example: migrateExample,
		Args:    onlyFlags("manifests are given with -f"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.report(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	set := command.Flags()
	flags.inputFlags.add(set)
	set.BoolVar(&flags.cluster, "from-cluster", false, "read a cluster with your kubeconfig, besides the manifests of -f; migrate never reads the content of Secrets there")
	set.StringVar(&flags.kubeconfig, "kubeconfig", "", "kubeconfig of that cluster; if empty, $KUBECONFIG or ~/.kube/config")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ContextOverrideFlags.Namespace.LongName = "namespace"
	clientcmd.BindOverrideFlags(&flags.overrides, set, names)
	set.Lookup("namespace").Usage = "show the Ingresses of this namespace only; all are read, as they affect each other"
	set.StringArrayVar(&flags.values, "values", nil, "file or - (standard input) with values of ingress-nginx's Helm chart; may be given several times, later ones win")
	set.BoolVar(&flags.assumeSecrets, "assume-secrets", false, "assume that Secrets exist that are not among the manifests")
	set.BoolVar(&flags.allowEmpty, "allow-empty", false, "allow manifests without a served Ingress")
	flags.output = "text"
	set.VarP(&once{text: &flags.output}, "output", "o", "text, json, csv, html or sarif")
	set.StringVar(&flags.failOn, "fail-on", string(migrate.Different), "exit with 1 if an Ingress has this status or a worse one: different, 503 or left-out, from the best to the worst; or never")
	return command
}

// failing are the values of --fail-on.
var failing = []string{string(migrate.Different), string(migrate.Unavailable), string(migrate.LeftOut), never}

func (f *migrateFlags) validate() error {
	switch {
	case !f.cluster && len(f.files) == 0:
		return errors.New("want --from-cluster, -f with a folder, a file or -, or both (got neither)")
	case forms[f.output] == nil:
		return fmt.Errorf("-o: want %s (got %q)", model.OneOf(slices.Sorted(maps.Keys(forms))), f.output)
	case !slices.Contains(failing, f.failOn):
		return fmt.Errorf("--fail-on: want %s (got %q)", model.OneOf(failing), f.failOn)
	case !f.cluster && f.clusterFlag() != "":
		return fmt.Errorf("--%s: want --from-cluster, too", f.clusterFlag())
	case slices.Contains(f.files, "-") && slices.Contains(f.values, "-"):
		return errors.New("-f and --values: want the standard input for one of the two (got it for both)")
	}
	return nil
}

// clusterFlag returns the name of a given flag that says which cluster to read, or how; ""
// if there is none.
func (f *migrateFlags) clusterFlag() (given string) {
	if f.kubeconfig != "" {
		return "kubeconfig"
	}
	ofKubectl := pflag.NewFlagSet("", pflag.ContinueOnError)
	clientcmd.BindOverrideFlags(&clientcmd.ConfigOverrides{}, ofKubectl, clientcmd.RecommendedConfigOverrideFlags(""))
	ofKubectl.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "namespace" && f.given.Changed(flag.Name) {
			given = flag.Name
		}
	})
	return given
}

func (f *migrateFlags) report(ctx context.Context, out, diagnostics io.Writer) error {
	if err := f.validate(); err != nil {
		return usage(err)
	}
	set, err := render.Load(templates.Files)
	if err != nil {
		return fmt.Errorf("load templates: %w", err)
	}
	f.shown = f.overrides.Context.Namespace
	in, setup, err := f.gather(ctx, diagnostics)
	if err != nil {
		return &exitError{status: usageStatus, err: err}
	}
	report := migrate.Look(lint.Manifests{Objects: in.Objects, Documents: in.documents, Errors: in.Errors, Notes: in.Notes}, lint.Options{
		Now: time.Now(), Translate: in.options, Templates: set, Environment: imageEnvironment(80, 443), Watch: in.watch, Known: in.problems,
		SecretThere: f.secretThere, AllowEmpty: f.allowEmpty,
	}, setup)
	report.Show(f.shown)
	if err := forms[f.output](&report, out); err != nil {
		return usage(fmt.Errorf("print the report: %w", err))
	}
	if f.output != "text" {
		fmt.Fprintln(diagnostics, report.Summary())
	}
	if f.failOn != never && report.Has(migrate.Status(f.failOn)) {
		return &exitError{status: 1}
	}
	return nil
}

// gather reads the cluster, the manifests and the values, and decides how the objects are
// served.
func (f *migrateFlags) gather(ctx context.Context, diagnostics io.Writer) (input, migrate.Setup, error) {
	in, err := f.everything(ctx, diagnostics)
	if err != nil {
		return in, migrate.Setup{}, err
	}
	setup := migrate.Setup{}
	if len(f.values) > 0 {
		values, err := f.readValues()
		if err != nil {
			return in, setup, err
		}
		if line := f.useValues(&in, values); line != "" {
			setup.Sources = append(setup.Sources, line)
		}
		setup.Values = append(values.Given, fatesOf(ofChart, values.Extra)...)
	}
	if err := f.decide(&in); err != nil {
		return in, setup, err
	}
	setup.Given = map[string]string{}
	for _, note := range in.Notes {
		maps.Copy(setup.Given, givenIn(note.Arguments))
	}
	setup.Flags = flagsOf(in.Notes)
	setup.Unread = f.unknownFlags(&in)
	for _, line := range []string{in.controller, in.settings} {
		if line != "" {
			setup.Sources = append(setup.Sources, line)
		}
	}
	return in, setup, nil
}

// everything reads the objects of the cluster and of the manifests.
func (f *migrateFlags) everything(ctx context.Context, diagnostics io.Writer) (input, error) {
	if f.assumeSecrets {
		f.secretThere = func(snapshot.Name) bool { return true }
	}
	var all input
	if f.cluster {
		var err error
		if all, err = f.fromOneCluster(ctx, diagnostics); err != nil {
			return all, err
		}
	} else if _, err := f.options(); err != nil {
		return all, usage(err)
	}
	files, err := f.read(ctx)
	if err != nil {
		return all, err
	}
	all.Objects.Append(files.Objects)
	all.Notes, all.Errors = append(all.Notes, files.Notes...), append(all.Errors, files.Errors...)
	all.documents = append(all.documents, files.documents...)
	return all, nil
}

// readValues reads the files of --values.
func (f *migrateFlags) readValues() (*migrate.Values, error) {
	var texts [][]byte
	for _, path := range f.values {
		read := func() ([]byte, error) { return os.ReadFile(path) }
		if path == "-" {
			read = func() ([]byte, error) { return io.ReadAll(os.Stdin) }
		}
		text, err := read()
		if err != nil {
			return nil, usage(fmt.Errorf("--values: %w", err))
		}
		texts = append(texts, text)
	}
	values, err := migrate.ReadValues(texts...)
	if err != nil {
		return nil, usage(fmt.Errorf("--values %s: %w", strings.Join(f.values, ", "), err))
	}
	return values, nil
}

// valuesFile is the file of the note about the flags that the chart makes of values.
const valuesFile = "--values"

// useValues adds the objects and flags that the chart makes of values, unless the objects
// have a controller. It returns a line about values that only have fates.
func (f *migrateFlags) useValues(in *input, values *migrate.Values) string {
	if slices.ContainsFunc(in.Notes, func(n snapshot.Note) bool { return n.Arguments != nil }) {
		return "values: those of " + f.valuesNames() + " are checked only, as the flags and settings are those of a Deployment"
	}
	if name, _, _ := lint.FindSettings(in.Objects); name != (snapshot.Name{}) && values.MayRead(name) {
		values.Flags["configmap"] = name.String()
	}
	in.Objects.Append(missingIn(in.Objects, values.Objects))
	in.Notes = append(in.Notes, snapshot.Note{File: valuesFile, Object: "Chart ingress-nginx (" + f.valuesNames() + ")", Arguments: values.Arguments(), Folders: values.Folders})
	return ""
}

// valuesNames are the names of the files of --values.
func (f *migrateFlags) valuesNames() string {
	var names []string
	for _, path := range f.values {
		if path == "-" {
			path = "standard input"
		}
		names = append(names, filepath.Base(path))
	}
	return strings.Join(names, ", ")
}

// missingIn returns the objects of a chart that are not there.
func missingIn(there, made snapshot.Objects) snapshot.Objects {
	return snapshot.Objects{
		IngressClasses: missing(there.IngressClasses, made.IngressClasses), Services: missing(there.Services, made.Services),
		ConfigMaps: missing(there.ConfigMaps, made.ConfigMaps),
	}
}

func missing[O metav1.Object](there, made []O) []O {
	return slices.DeleteFunc(slices.Clone(made), func(one O) bool {
		return slices.ContainsFunc(there, func(other O) bool {
			return other.GetNamespace() == one.GetNamespace() && other.GetName() == one.GetName()
		})
	})
}
