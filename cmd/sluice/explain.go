package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sluice/internal/explain"
)

// explainFlags are the flags of sluice explain.
type explainFlags struct {
	inputFlags
	output    string
	headers   []string
	short     bool
	httpsPort int
}

func explainCommand() *cobra.Command {
	var flags explainFlags
	command := &cobra.Command{
		Use:   "explain [METHOD] URL -f MANIFESTS",
		Short: "Explain which rule takes a URL, and why, without a cluster or an nginx",
		Long: "Explain which rule of which Ingress takes a request, why each other rule does not, and which behaviours apply.\n" +
			"METHOD is GET if it is left out. URL is http://host/path, https://host/path or host/path, which is HTTP unless its port is 443.\n" +
			"Its query and the headers of --header decide about canaries, match-headers and match-query, and its path about deny-paths.\n" +
			"The explanation is for the nginx.conf that `sluice render` prints. nginx does not check it.",
		Example: "  sluice explain https://www.shop.example/cart/7 -f docs/examples/shop --configmap shop/sluice\n" +
			"  sluice explain OPTIONS www.shop.example/cart -f docs/examples/shop -o json\n" +
			"  sluice explain 'shop.example/?version=2' --header 'X-Canary: always' --header 'Cookie: tenant=blue' -f manifests\n" +
			"  kubectl get ingress,ingressclass,svc,endpointslices,secrets,configmaps -A -o yaml | sluice explain shop.example/ -f -",
		Args: wantArguments(1, 2, "a URL, such as https://shop.example/cart, with the method before it if it is not GET"),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			return explainRequest(cmd.Context(), &flags, arguments, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.inputFlags.add(command.Flags())
	command.Flags().StringVarP(&flags.output, "output", "o", "text", "text or json")
	command.Flags().StringArrayVar(&flags.headers, "header", nil, "header of the request, such as 'X-Canary: always'; repeatable")
	command.Flags().BoolVar(&flags.short, "short", false, "print only the outcome, in one line")
	command.Flags().IntVar(&flags.httpsPort, "https-port", 443, "port for HTTPS, for redirects")
	return command
}

func explainRequest(ctx context.Context, f *explainFlags, arguments []string, out, diagnostics io.Writer) error {
	request, err := parseRequest(arguments, f.headers)
	if err := cmp.Or(err, f.validate()); err != nil {
		return usage(err)
	}
	r, err := f.rendered(ctx, "", usualHTTPPort, f.httpsPort)
	if err != nil {
		return err
	}
	r.input.say(diagnostics)
	unread := r.input.sayUnread(diagnostics)
	if err := f.print(out, explain.Explain(explain.Input{Snapshot: r.snap, Options: r.input.options, Config: r.config, Problems: r.problems}, request)); err != nil {
		return err
	}
	return unread
}

// validate returns an error with the flag, its value and a valid one.
func (f *explainFlags) validate() error {
	switch {
	case f.short && f.output != "text":
		return errors.New("--short and -o json: want one of the two (got both)")
	case f.output != "text" && f.output != "json":
		return fmt.Errorf("-o: want text or json (got %q)", f.output)
	case f.httpsPort < 1 || f.httpsPort > 65535:
		return fmt.Errorf("--https-port: want a port from 1 to 65535 (got %d)", f.httpsPort)
	}
	return f.inputFlags.validate()
}

// parseRequest parses [METHOD] URL, and the headers.
func parseRequest(arguments, headers []string) (explain.Request, error) {
	method := "GET"
	if len(arguments) == 2 {
		method = arguments[0]
	}
	request, err := explain.ParseRequest(method, arguments[len(arguments)-1])
	if err != nil {
		return request, err
	}
	for _, text := range headers {
		header, err := explain.ParseHeader(text)
		if err != nil {
			return request, fmt.Errorf("--header: %w", err)
		}
		request.Headers = append(request.Headers, header)
	}
	return request, nil
}

// usualHTTPPort is the port for HTTP, which has no flag.
const usualHTTPPort = 80

func (f *explainFlags) print(out io.Writer, e *explain.Explanation) error {
	switch {
	case f.short:
		return e.WriteShort(out)
	case f.output == "text":
		return e.WriteText(out)
	}
	return printJSON(out, e)
}
