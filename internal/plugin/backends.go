package plugin

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/debugapi"
)

const backendsExample = `  # All backends
  kubectl sluice backends

  # Their names only
  kubectl sluice backends --list

  # The endpoints of one
  kubectl sluice backends --backend shop-cart-80 -o wide`

func backendsCommand(s *session) *cobra.Command {
	var list bool
	var backend string
	cmd := &cobra.Command{
		Use:     "backends",
		Aliases: []string{"backend"},
		Short:   "Show the backends and their endpoints",
		Long:    "Show the endpoints that nginx uses for each port of a Service.",
		Example: backendsExample,
		Args:    noMore,
	}
	v := s.view(cmd, asTable, asWide, asJSON, asYAML, asName)
	cmd.Flags().BoolVar(&list, "list", false, "only the names; the same as -o name")
	cmd.Flags().StringVar(&backend, "backend", "", "only this backend: NAMESPACE-SERVICE-PORT or NAMESPACE/SERVICE/PORT")
	cmd.MarkFlagsMutuallyExclusive("list", "backend")
	cmd.RunE = func(*cobra.Command, []string) error {
		if list {
			v.chosen = asName
		}
		return show(v, asking(debugapi.BackendsPath, debugapi.NameParam, backend), printBackends)
	}
	return cmd
}

// mostEndpoints is the maximum number of endpoints in a row, unless the table is
// wide.
const mostEndpoints = 3

func printBackends(o output, backends []debugapi.Backend) error {
	if o.format == asName {
		var names []string
		for _, b := range backends {
			names = append(names, b.Name)
		}
		return o.lines(names)
	}
	return o.table(backendTable(backends, o.format == asWide))
}

// backendTable has all endpoints of a backend if all is set.
func backendTable(backends []debugapi.Backend, all bool) table {
	t := table{heading: []string{"NAME", "SERVICE", "PORT", "READY", "ENDPOINTS", "WHEN EMPTY", "PICKER", "KEY"}, wide: 3}
	for _, b := range backends {
		row := cells(b.Name, b.Namespace+"/"+cmp.Or(b.Service, b.Host), orDash(b.Port), readyOf(b), endpointsOf(b, all), strconv.Itoa(b.WhenEmpty), b.Picker, b.Key)
		if len(b.Endpoints) == 0 && len(b.Shares) == 0 || len(b.Failing) > 0 {
			row[3].colour = red
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// readyOf returns the number of endpoints without those that fail their health check; if
// some fail, also the number of all.
func readyOf(b debugapi.Backend) string {
	all := len(allEndpoints(b))
	if len(b.Failing) == 0 {
		return strconv.Itoa(all)
	}
	return fmt.Sprintf("%d/%d", all-len(b.Failing), all)
}

// allEndpoints returns the endpoints with those that fail their health check first.
func allEndpoints(b debugapi.Backend) []debugapi.Endpoint {
	if len(b.Failing) == 0 || slices.Contains(b.Endpoints, b.Failing[0].Endpoint) {
		return b.Endpoints
	}
	var all []debugapi.Endpoint
	for _, f := range b.Failing {
		all = append(all, f.Endpoint)
	}
	return append(all, b.Endpoints...)
}

// endpointsOf returns the addresses of a backend, shortened unless all is set, or the
// shares of a split.
func endpointsOf(b debugapi.Backend, all bool) string {
	var shown []string
	reasons := map[debugapi.Endpoint]string{}
	for _, f := range b.Failing {
		reasons[f.Endpoint] = " (" + f.Reason + ")"
	}
	for _, s := range b.Shares {
		shown = append(shown, fmt.Sprintf("%d/%d %s", s.Weight, b.Total, s.Backend))
	}
	endpoints := allEndpoints(b)
	for _, e := range endpoints {
		if !all && len(shown) == mostEndpoints {
			shown = append(shown, fmt.Sprintf("+ %d more", len(endpoints)-mostEndpoints))
			break
		}
		shown = append(shown, net.JoinHostPort(e.Address, strconv.Itoa(e.Port))+reasons[e])
	}
	if b.ExternalName != "" {
		shown = append(shown, "("+b.ExternalName+")")
	}
	return orDash(strings.Join(shown, ","))
}
