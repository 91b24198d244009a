package plugin

import (
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
)

const routesExample = `  # All routes
  kubectl sluice routes

  # The routes of one host, with the behaviours of each path
  kubectl sluice routes --host www.shop.example -o wide

  # The routes of one Ingress
  kubectl sluice routes --ingress shop/cart`

func routesCommand(s *session) *cobra.Command {
	var host, ingress string
	cmd := &cobra.Command{
		Use:     "routes",
		Aliases: []string{"route"},
		Short:   "Show the routing table",
		Long:    "Show the routing table in the order in which nginx searches it: each host and path, its backend and its Ingress.",
		Example: routesExample,
		Args:    noMore,
	}
	v := s.view(cmd, asTable, asWide, asJSON, asYAML)
	s.hostFlag(cmd, &host, `only the routes of this host; "*" for the catch-all server`)
	s.ingressFlag(cmd, &ingress, "only the routes of this Ingress, as NAMESPACE/NAME")
	cmd.RunE = func(*cobra.Command, []string) error {
		reference, err := s.ingressReference(ingress)
		if err != nil {
			return err
		}
		return show(v, asking(debugapi.RoutesPath, debugapi.HostParam, host, debugapi.IngressParam, reference), printRoutes)
	}
	return cmd
}

func printRoutes(o output, routes []debugapi.Route) error { return o.table(routeTable(routes)) }

func routeTable(routes []debugapi.Route) table {
	t := table{heading: []string{"HOST", "MATCH", "PATH", "BACKEND", "INGRESS", "EXTRAS"}, wide: 1}
	for _, r := range routes {
		t.rows = append(t.rows, cells(r.Host, r.Match, r.Path, r.Answer, objectName(r.Object), orDash(strings.Join(r.Extras, ", "))))
	}
	return t
}

// orDash returns "-" for an empty text.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
