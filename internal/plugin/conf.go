package plugin

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

const confExample = `  # All of nginx.conf
  kubectl sluice conf

  # The server of one host
  kubectl sluice conf --host www.shop.example

  # The lines of one Ingress, each with the behaviour that wrote it
  kubectl sluice conf --ingress shop/cart --origins`

func confCommand(s *session) *cobra.Command {
	var host, ingress string
	var origins bool
	cmd := &cobra.Command{
		Use:   "conf",
		Short: "Show nginx.conf, and the origin of each line",
		Long: "Show the running nginx.conf: all of it, the server of a host, or the lines of an Ingress.\n" +
			"With --origins, and in JSON and YAML, each line has its owner and its behaviour.",
		Example: confExample,
		Args:    noMore,
	}
	v := s.view(cmd, asText, asJSON, asYAML)
	s.hostFlag(cmd, &host, `only the server of this host; "*" for the catch-all one`)
	s.ingressFlag(cmd, &ingress, "only the lines of this Ingress, as NAMESPACE/NAME")
	cmd.Flags().BoolVar(&origins, "origins", false, "put the line number, the object and the behaviour before each line")
	cmd.RunE = func(*cobra.Command, []string) error {
		reference, err := s.ingressReference(ingress)
		if err != nil {
			return err
		}
		q := asking(debugapi.ConfPath, debugapi.HostParam, host, debugapi.IngressParam, reference)
		if origins {
			q.query.Set(debugapi.FormatParam, debugapi.JSON)
			return show(v, q, printOrigins)
		}
		return v.text(q, func(body []byte) []byte { return body })
	}
	return cmd
}

// printOrigins prints the lines of nginx.conf, each after its origin.
func printOrigins(o output, conf debugapi.Conf) error {
	widest := 0
	for _, line := range conf.Lines {
		widest = max(widest, utf8.RuneCountInString(originOf(line)))
	}
	number := len(fmt.Sprint(conf.Total))
	var text strings.Builder
	for _, line := range conf.Lines {
		origin := originOf(line)
		padding := strings.Repeat(" ", widest-utf8.RuneCountInString(origin))
		fmt.Fprintf(&text, "%*d  %s%s  | %s\n", number, line.Number, o.paint(origin, green), padding, model.Lines(line.Text))
	}
	return o.painted(text.String())
}

// originOf returns the origin of a line: "Ingress shop/cart cors", or "sluice" for
// Sluice itself.
func originOf(line debugapi.Line) string {
	origin := line.Object.String() + " " + cmp.Or(line.Behaviour, "rule")
	if line.Object.Name == "" {
		origin = strings.TrimSpace("sluice " + line.Behaviour)
	}
	return model.OneLine(origin, mostCell)
}
