package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/debug"
	"sluice/internal/debugapi"
)

// dbgCommand is /dbg of ingress-nginx's image, with which its kubectl plugin inspects a
// running controller. If something is not found, it prints that to standard output with
// status 0, as there, because the plugin shows nothing else.
func dbgCommand() *cobra.Command {
	command := commandOfCommands(dbg, "Inspect the running controller, like /dbg of ingress-nginx")
	var d dbgClient
	addControllerStateDir(command.PersistentFlags(), &d.stateDir)
	command.PersistentFlags().Int("status-port", 10246, "a flag of ingress-nginx, without effect: Sluice opens no such port")
	backends := commandOfCommands("backends", "Show the endpoints that nginx uses")
	backends.AddCommand(
		d.command("all", "Print all backends as JSON", d.allBackends),
		d.command("list", "Print the names of all backends", d.backendNames),
		d.command("get NAME", "Print one backend as JSON", d.backend),
	)
	certs := commandOfCommands("certs", "Show the certificates that nginx presents")
	certs.AddCommand(d.command("get HOST", "Print the certificate of a host as PEM, without its key", d.certificate))
	command.AddCommand(backends, certs,
		d.command("conf", "Print nginx.conf", func(q dbgQuestion) error { return printAnswer(q.ctx, d.stateDir, debugapi.ConfPath, q.out) }),
		d.command("general", "Print the state of the controller as JSON", func(q dbgQuestion) error { return printAnswer(q.ctx, d.stateDir, debugapi.GeneralPath, q.out) }),
	)
	return command
}

// dbgClient asks a controller.
type dbgClient struct{ stateDir string }

// dbgQuestion is one call. argument can be empty.
type dbgQuestion struct {
	ctx              context.Context
	argument         string
	out, diagnostics io.Writer
}

func (d *dbgClient) command(use, short string, run func(dbgQuestion) error) *cobra.Command {
	arguments := onlyFlags("")
	if _, argument, has := strings.Cut(use, " "); has {
		arguments = wantArguments(1, 1, argument)
	}
	return &cobra.Command{
		Use: use, Short: short, Args: arguments,
		RunE: func(cmd *cobra.Command, arguments []string) error {
			q := dbgQuestion{ctx: cmd.Context(), out: cmd.OutOrStdout(), diagnostics: cmd.ErrOrStderr()}
			if len(arguments) > 0 {
				q.argument = arguments[0]
			}
			err := run(q)
			var answer *debug.AnswerError
			if errors.As(err, &answer) && answer.NotFound() {
				_, err = fmt.Fprintln(q.out, answer.Text)
			}
			return err
		},
	}
}

// ask decodes an answer in JSON.
func (d *dbgClient) ask(ctx context.Context, path string, into any) error {
	return askController(ctx, d.stateDir, path, func(answer io.Reader) error {
		if err := json.NewDecoder(answer).Decode(into); err != nil {
			return fmt.Errorf("the answer of the controller to %s: %w", path, err)
		}
		return nil
	})
}

// dbgBackend is a backend in the format of ingress-nginx, without the fields that Sluice
// lacks.
type dbgBackend struct {
	Name           string        `json:"name"`
	Service        *dbgService   `json:"service,omitempty"`
	Port           any           `json:"port"` // a number or a name, as there
	SSLPassthrough bool          `json:"sslPassthrough"`
	Endpoints      []dbgEndpoint `json:"endpoints"`
}

type dbgService struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

type dbgEndpoint struct {
	Address string `json:"address"`
	Port    string `json:"port"`
}

func (d *dbgClient) backends(ctx context.Context, name string) ([]dbgBackend, error) {
	path := debugapi.BackendsPath
	if name != "" {
		path += "?" + url.Values{debugapi.NameParam: {name}}.Encode()
	}
	var asked []debugapi.Backend
	if err := d.ask(ctx, path, &asked); err != nil {
		return nil, err
	}
	backends := make([]dbgBackend, len(asked))
	for i, b := range asked {
		backends[i] = asDbg(b)
	}
	return backends, nil
}

func asDbg(b debugapi.Backend) dbgBackend {
	out := dbgBackend{Name: b.Name, Service: &dbgService{}, Port: b.Port, Endpoints: []dbgEndpoint{}}
	out.Service.Metadata.Name, out.Service.Metadata.Namespace = b.Service, b.Namespace
	if b.Port == "" {
		out.Port = 0
	} else if number, err := strconv.Atoi(b.Port); err == nil {
		out.Port = number
	}
	for _, e := range b.Endpoints {
		out.Endpoints = append(out.Endpoints, dbgEndpoint{Address: e.Address, Port: strconv.Itoa(e.Port)})
	}
	return out
}

func (d *dbgClient) allBackends(q dbgQuestion) error {
	backends, err := d.backends(q.ctx, "")
	if err != nil {
		return err
	}
	return printJSON(q.out, backends)
}

func (d *dbgClient) backendNames(q dbgQuestion) error {
	backends, err := d.backends(q.ctx, "")
	if err != nil {
		return err
	}
	for _, b := range backends {
		if _, err := fmt.Fprintln(q.out, b.Name); err != nil {
			return err
		}
	}
	return nil
}

func (d *dbgClient) backend(q dbgQuestion) error {
	backends, err := d.backends(q.ctx, q.argument)
	if err != nil {
		return err
	}
	if len(backends) != 1 {
		return fmt.Errorf("%d backends have the name %q: want a key, as \"sluice debug get %s\" prints them", len(backends), q.argument, debugapi.BackendsPath)
	}
	return printJSON(q.out, backends[0])
}

// certificate prints the chain. ingress-nginx also prints the key.
func (d *dbgClient) certificate(q dbgQuestion) error {
	var certificates []debugapi.Certificate
	if err := d.ask(q.ctx, debugapi.CertsPath+"?"+url.Values{debugapi.HostParam: {q.argument}}.Encode(), &certificates); err != nil {
		return err
	}
	fmt.Fprintln(q.diagnostics, "the private key is not printed: the controller does not disclose it")
	for _, c := range certificates {
		if _, err := io.WriteString(q.out, c.Chain); err != nil {
			return err
		}
	}
	return nil
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
