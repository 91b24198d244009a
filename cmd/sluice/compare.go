package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/compare"
	"sluice/internal/keys"
)

// compareFlags are the flags of sluice compare.
type compareFlags struct {
	inputFlags
	userCluster
	a, b             string
	aHTTPS, bHTTPS   string
	schemes, methods []string
	headers          []string
	backendHeader    string
	body             bool
	ignored          []string
	log              logFlags
	rate             float64
	concurrency      int
	tries            int
	timeout          time.Duration
	limit            int
	seed             uint64
	output           string
	allowEmpty       bool
}

// logFlags are those of the access log.
type logFlags struct {
	file   string
	fields []string
	host   string
}

const compareLong = `Ask two controllers the same requests, and show where their answers differ.

The requests are made from Ingresses, of manifests (-f) or of a cluster (--from-cluster): each path at and near its edges (a
slash, a segment or a letter more or less, the other case, percent escapes, double slashes, dot segments), texts that patterns
match and nearly match, hosts, wildcards and aliases, headers and cookies of canaries, origins of CORS, by HTTP and HTTPS. Or
they are the requests of an access log (--access-log), each once.

Only the given addresses are asked, whatever the host of a request. Redirects are not followed. The requests reach the backends
of both controllers: only GET and HEAD are sent unless --methods names others.

What is compared: the status, the target of a redirect, all headers but ` + "Date, X-Request-Id and the like" + ` (see --headers), names and
attributes of cookies, the certificate, with --backend-header the backend, and with --body the body. An answer counts as
different if both controllers repeat it (see --tries); what a controller does not repeat, such as the choice of a weighted
canary, is listed apart.

Differences are grouped by cause: the rule that takes the request, as ` + "`sluice explain`" + ` decides it, and the kind of difference. The
kinds are NoAnswer, Status, Redirect, Backend, Header, Cookie, Certificate and Body. If a is ingress-nginx and b is Sluice, deliberate
differences of Sluice are marked as known.

The exit status is
  0  no answer differs
  1  answers differ
  2  the command line is wrong, the Ingresses cannot be read, none is served (see --allow-empty), or a controller cannot be reached`

const compareExample = `  # Beside each other in a cluster, each reached by a port-forward.
  sluice compare --a http://127.0.0.1:8080 --a-https 127.0.0.1:8443 \
    --b http://127.0.0.1:9080 --b-https 127.0.0.1:9443 --from-cluster

  # By the addresses of their load balancers; what Sluice does otherwise on purpose does not count.
  sluice compare --a http://192.0.2.1 --b http://192.0.2.2 -f manifests --ignore Known

  # The requests of a day, as JSON for a script.
  sluice compare --a http://192.0.2.1 --b http://192.0.2.2 -f manifests --access-log access.log -o json`

func compareCommand() *cobra.Command {
	var f compareFlags
	command := &cobra.Command{
		Use:     "compare --a URL --b URL (-f MANIFESTS | --from-cluster | --access-log FILE)",
		Short:   "Ask two controllers the same requests, and show where their answers differ",
		Long:    compareLong,
		Example: compareExample,
		Args:    onlyFlags("the controllers are given with --a and --b"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return compareControllers(cmd.Context(), &f, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	f.inputFlags.add(flags)
	f.userCluster.add(flags, "read")
	flags.StringVar(&f.a, "a", "", "the first controller, such as ingress-nginx: http://HOST[:PORT]; without a port, HTTPS is asked at 443")
	flags.StringVar(&f.b, "b", "", "the second controller, such as Sluice")
	flags.StringVar(&f.aHTTPS, "a-https", "", "HOST:PORT of the first controller for HTTPS")
	flags.StringVar(&f.bHTTPS, "b-https", "", "HOST:PORT of the second controller for HTTPS")
	flags.StringSliceVar(&f.schemes, "schemes", []string{"http", "https"}, "schemes to ask by")
	flags.StringSliceVar(&f.methods, "methods", []string{"GET", "HEAD"}, "methods to ask paths as they are written by, besides GET; others than HEAD may change data")
	flags.StringSliceVar(&f.headers, "headers", nil, "compare only these headers; if empty, all but "+strings.Join(compare.Ignored, ", "))
	flags.StringVar(&f.backendHeader, "backend-header", "", "header in which backends give their names")
	flags.BoolVar(&f.body, "body", false, "compare a hash of the bodies")
	flags.StringSliceVar(&f.ignored, "ignore", nil, "leave out differences of a kind (Header), of a header or cookie (Header:Server), known ones (Known: all but closed and resource-backend, which return 503) or one of these (server-header)")
	flags.StringVar(&f.log.file, "access-log", "", "ask the requests of this access log, - for standard input: ingress-nginx's format or JSON lines")
	flags.StringSliceVar(&f.log.fields, "access-log-fields", nil, "fields of JSON lines, as FIELD=NAME; the fields are method, host, uri, scheme and request (the request line)")
	flags.StringVar(&f.log.host, "access-log-host", "", "host of lines without one; if empty, the hosts whose rules lead to the logged upstream")
	flags.Float64Var(&f.rate, "rate", 50, "requests per second to each controller")
	flags.IntVar(&f.concurrency, "concurrency", 4, "number of requests at once")
	flags.IntVar(&f.tries, "tries", 4, "how often both controllers are asked before an answer counts as different")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Second, "time for one answer")
	flags.IntVar(&f.limit, "limit", 0, "ask at most so many requests, those for paths as written first; 0 for all")
	flags.Uint64Var(&f.seed, "seed", 1, "number that selects the texts for patterns; the same number makes the same requests")
	flags.BoolVar(&f.allowEmpty, "allow-empty", false, "allow manifests without a served Ingress; only hosts that nobody serves are asked then")
	flags.StringVarP(&f.output, "output", "o", "text", "text or json")
	return command
}

func (f *compareFlags) validate() error {
	switch {
	case f.cluster && len(f.files) > 0:
		return errors.New("-f and --from-cluster: want one of the two (got both)")
	case !f.cluster && len(f.files) == 0 && f.log.file == "":
		return errors.New("want Ingresses with -f or --from-cluster, or requests with --access-log (got none)")
	case f.output != "text" && f.output != "json":
		return fmt.Errorf("-o: want text or json (got %q)", f.output)
	case f.log.file == "" && len(f.log.fields)+len(f.log.host) > 0:
		return errors.New("--access-log-fields and --access-log-host: want --access-log, too")
	}
	return cmp.Or(f.userCluster.validate(), f.validateNumbers(), f.validateWords())
}

func (f *compareFlags) validateNumbers() error {
	switch {
	case !(f.rate > 0):
		return fmt.Errorf("--rate: want a number above 0 (got %v)", f.rate)
	case f.concurrency < 1 || f.concurrency > 1000:
		return fmt.Errorf("--concurrency: want a number from 1 to 1000 (got %d)", f.concurrency)
	case f.tries < 2 || f.tries > 100:
		return fmt.Errorf("--tries: want a number from 2 to 100 (got %d)", f.tries)
	case f.timeout <= 0:
		return fmt.Errorf("--timeout: want more than 0 (got %v)", f.timeout)
	case f.limit < 0:
		return fmt.Errorf("--limit: want 0 or more (got %d)", f.limit)
	}
	return nil
}

// validateWords checks the lists of words, and gives headers their canonical form.
func (f *compareFlags) validateWords() error {
	for _, scheme := range f.schemes {
		if scheme != "http" && scheme != "https" {
			return fmt.Errorf("--schemes: want http and https (got %q)", scheme)
		}
	}
	for i, method := range f.methods {
		f.methods[i] = strings.ToUpper(method)
		if strings.Trim(f.methods[i], "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" || method == "" || f.methods[i] == "CONNECT" {
			return fmt.Errorf("--methods: want methods such as GET, but not CONNECT (got %q)", method)
		}
	}
	if !slices.Contains(f.methods, "GET") {
		f.methods = append(f.methods, "GET")
	}
	for i, name := range f.headers {
		if name == "" {
			return errors.New("--headers: want names of headers, separated by commas (got an empty one)")
		}
		f.headers[i] = textproto.CanonicalMIMEHeaderKey(name)
	}
	f.backendHeader = textproto.CanonicalMIMEHeaderKey(f.backendHeader)
	for _, name := range f.ignored {
		if err := isIgnorable(name); err != nil {
			return err
		}
	}
	return nil
}

// isIgnorable rejects a value of --ignore that no difference has.
func isIgnorable(name string) error {
	kind, of, named := strings.Cut(name, ":")
	names := []string{compare.KnownKind}
	for _, k := range compare.Kinds {
		names = append(names, string(k))
	}
	names = append(names, compare.KnownCases()...)
	is := func(other string) bool { return strings.EqualFold(kind, other) }
	switch {
	case named && of != "" && (is(string(compare.Header)) || is(string(compare.Cookie))):
		return nil
	case !named && slices.ContainsFunc(names, is):
		return nil
	}
	return fmt.Errorf("--ignore: want Header:NAME, Cookie:NAME, or one of %s (got %q)%s", strings.Join(names, ", "), name, keys.DidYouMean(keys.NewNames(names).Nearest(name)))
}

// compareControllers makes the requests, asks both controllers, and prints the report.
func compareControllers(ctx context.Context, f *compareFlags, out, diagnostics io.Writer) error {
	if err := f.validate(); err != nil {
		return usage(err)
	}
	controllers, err := f.controllers()
	if err != nil {
		return usage(err)
	}
	report, err := f.compared(ctx, controllers, diagnostics)
	if err != nil {
		return &exitError{status: usageStatus, err: err}
	}
	if err := f.print(out, report); err != nil {
		return usage(fmt.Errorf("print the report: %w", err))
	}
	if report.Differing > 0 {
		return &exitError{status: 1}
	}
	return nil
}

func (f *compareFlags) print(out io.Writer, report *compare.Report) error {
	if f.output == "json" {
		return printJSON(out, report)
	}
	return report.WriteText(out)
}
