package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// renderFlags are the flags of sluice render.
type renderFlags struct {
	inputFlags
	ingress     string
	host        string
	output      string
	templateDir string
	httpPort    int
	httpsPort   int
}

func renderCommand() *cobra.Command {
	var flags renderFlags
	command := &cobra.Command{
		Use:   "render -f MANIFESTS",
		Short: "Print the nginx.conf for manifests, without a cluster or an nginx",
		Example: "  sluice render -f docs/examples/shop\n" +
			"  sluice render -f docs/examples/shop --ingress shop/web\n" +
			"  kubectl get ingress,ingressclass,svc,endpointslices,secrets -A -o yaml | sluice render -f - --host shop.example",
		Args: onlyFlags("manifests are given with -f"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return renderManifests(cmd.Context(), &flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.inputFlags.add(command.Flags())
	command.Flags().StringVar(&flags.ingress, "ingress", "", "print only the lines of this Ingress, as NAMESPACE/NAME")
	command.Flags().StringVar(&flags.host, "host", "", "print only the server of this host")
	command.Flags().StringVarP(&flags.output, "output", "o", "conf", "conf, json (the configuration as data, and the Problems) or sourcemap (the owner of each line)")
	command.Flags().StringVar(&flags.templateDir, "template-dir", "", "folder with templates that replace the built-in ones")
	command.Flags().IntVar(&flags.httpPort, "http-port", 80, "port for HTTP")
	command.Flags().IntVar(&flags.httpsPort, "https-port", 443, "port for HTTPS")
	return command
}

// rendered is the result for manifests.
type rendered struct {
	snap     *snapshot.Snapshot
	config   model.Config
	file     *render.File
	problems []model.Problem
	input    input
}

func renderManifests(ctx context.Context, f *renderFlags, out, diagnostics io.Writer) error {
	selected, err := f.selection()
	if err := cmp.Or(f.validate(), err); err != nil {
		return usage(err)
	}
	r, err := f.rendered(ctx, f.templateDir, f.httpPort, f.httpsPort)
	if err != nil {
		return err
	}
	r.input.say(diagnostics)
	if len(r.snap.Ingresses()) == 0 {
		fmt.Fprintln(diagnostics, "no Ingress is among the manifests")
	}
	for _, problem := range model.SortProblems(r.problems) {
		fmt.Fprintln(diagnostics, "problem:", problem)
	}
	unread := r.input.sayUnread(diagnostics)
	if err := r.print(out, f.output, selected); err != nil {
		if errors.Is(err, errNothing) && f.host != "" {
			return fmt.Errorf("--host: want a host that a rule has (got %q, which none has)", f.host)
		}
		return err
	}
	return unread
}

// rendered reads and renders the manifests. A templateDir of "" means the built-in
// templates.
func (f *inputFlags) rendered(ctx context.Context, templateDir string, httpPort, httpsPort int) (*rendered, error) {
	var files fs.FS = templates.Files
	if templateDir != "" {
		files = os.DirFS(templateDir)
	}
	set, err := render.Load(files)
	if err != nil {
		return nil, fmt.Errorf("load templates: %w", err)
	}
	in, err := f.load(ctx)
	if err != nil {
		return nil, err
	}
	in.options.HTTPSPort, in.options.Reserved = httpsPort, webPorts(httpPort, httpsPort)
	snap, problems := snapshot.New(in.Objects.Watched(in.watch))
	config, more := translate.Config(snap, in.options, nil)
	file, unprintable := set.Render(config.Static, imageEnvironment(httpPort, httpsPort), nil)
	problems = slices.Concat(in.problems, problems, more, unprintable)
	return &rendered{snap: snap, config: config, file: file, problems: problems, input: in}, nil
}

// imageEnvironment is that of the image, so that the output does not depend on this
// machine.
func imageEnvironment(httpPort, httpsPort int) render.Environment {
	return render.Environment{
		HTTPPort: httpPort, HTTPSPort: httpsPort, IPv6: true, Workers: 1,
		OpenFiles: 1 << 20, MostOpenFiles: 1 << 20,
		StateDir: "/var/lib/sluice", Lua: "/var/lib/sluice/lua", Token: "TOKEN",
		Capabilities: render.Capabilities{HTTP2Directive: true, HTTP3: true, StubStatus: true, Stream: true, SSLPreread: true, StreamRealIP: true, HeadersMore: true, ModSecurity: true, Brotli: true, GeoIP: true}, CoreRules: render.DebianCoreRules,
		Databases: []render.Database{{Edition: "GeoLite2-City", Path: "/var/lib/sluice/geoip/GeoLite2-City.mmdb"}, {Edition: "GeoLite2-ASN", Path: "/var/lib/sluice/geoip/GeoLite2-ASN.mmdb"}},
	}
}

// selection returns a function that selects origins; nil means all.
func (f *renderFlags) selection() (func(render.Origin) bool, error) {
	switch {
	case f.output != "conf" && f.output != "json" && f.output != "sourcemap":
		return nil, fmt.Errorf("-o: want conf, json or sourcemap (got %q)", f.output)
	case f.host != "" && f.ingress != "":
		return nil, errors.New("--ingress and --host: want one of the two (got both)")
	case f.host != "":
		return func(o render.Origin) bool { return o.Host == f.host }, nil
	case f.ingress != "":
		name, err := snapshot.ParseName(f.ingress)
		if err != nil {
			return nil, fmt.Errorf("--ingress: want NAMESPACE/NAME (got %q)", f.ingress)
		}
		ref := snapshot.IngressRef(name)
		return func(o render.Origin) bool { return o.Object == ref }, nil
	}
	return nil, nil
}

func (r *rendered) print(out io.Writer, format string, selected func(render.Origin) bool) error {
	switch format {
	case "json":
		return printJSON(out, map[string]any{
			"static": r.config.Static, "dynamic": r.config.Dynamic, "problems": model.SortProblems(r.problems),
		})
	case "sourcemap":
		return r.printSourceMap(out, selected)
	}
	return r.printConf(out, selected)
}

func (r *rendered) printSourceMap(out io.Writer, selected func(render.Origin) bool) error {
	encoder := json.NewEncoder(out)
	for _, span := range r.file.SourceMap() {
		if selected != nil && !selected(span.Origin) {
			continue
		}
		if err := encoder.Encode(span); err != nil {
			return err
		}
	}
	return nil
}

var errNothing = errors.New("no line of nginx.conf has this owner")

// printConf prints the file, or only the selected lines, with a blank line between
// groups of adjacent lines.
func (r *rendered) printConf(out io.Writer, selected func(render.Origin) bool) error {
	if selected == nil {
		_, err := r.file.WriteTo(out)
		return err
	}
	found, err := r.file.WriteSelected(out, func(l render.Line) bool { return selected(l.Origin) })
	if err == nil && !found {
		err = errNothing
	}
	return err
}
