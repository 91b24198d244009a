package plugin

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const ingressesExample = `  # The Ingresses of all namespaces, one row for each host and path
  kubectl sluice ingresses --all-namespaces

  # The rules for one host
  kubectl sluice ingresses --all-namespaces --host www.shop.example`

// ingressRow is a host and path of an Ingress, also for JSON.
type ingressRow struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Class     string   `json:"class,omitempty"`
	Host      string   `json:"host"`
	Path      string   `json:"path"`
	PathType  string   `json:"pathType,omitempty"`
	Addresses []string `json:"addresses"`
	TLS       bool     `json:"tls"`
	// Service is "kind/name" for a backend that is not a Service.
	Service string `json:"service"`
	Port    string `json:"servicePort"`
	// Endpoints is the number of ready addresses; null if it is unknown.
	Endpoints *int `json:"endpoints"`
}

func ingressesCommand(s *session) *cobra.Command {
	var all bool
	var host string
	cmd := &cobra.Command{
		Use:     "ingresses",
		Aliases: []string{"ingress", "ing"},
		Short:   "Show the Ingresses, one row for each host and path",
		Long:    "Show the Ingresses of every class, one row for each host and path, with the Service and the number of its endpoints. This command asks the API server only.",
		Example: ingressesExample,
		Args:    noMore,
	}
	output := addFormat(cmd, asTable, asWide, asJSON, asYAML, asName)
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "show the Ingresses of all namespaces")
	s.hostFlag(cmd, &host, `only the rules of this host, as they are written; "*" for those without one`)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := bounded(cmd)
		defer cancel()
		c, err := s.connect()
		if err != nil {
			return err
		}
		namespace := c.namespace
		if all {
			namespace = metav1.NamespaceAll
		}
		rows, err := readIngresses(ctx, c, namespace)
		if err != nil {
			return err
		}
		if host != "" {
			rows = slices.DeleteFunc(rows, func(r ingressRow) bool { return !strings.EqualFold(r.Host, host) })
		}
		if o := s.output(output.chosen); len(rows) > 0 || o.isDocument() {
			return printIngresses(o, rows, all)
		}
		s.note("no Ingresses%s", where(namespace, host))
		return nil
	}
	return cmd
}

// where describes the place of an unsuccessful search.
func where(namespace, host string) string {
	text := ""
	if host != "" {
		text = " with rules for the host " + strconv.Quote(host)
	}
	if namespace != "" {
		text += " in the namespace " + strconv.Quote(namespace) + " (--all-namespaces shows those of others)"
	}
	return text
}

// readIngresses returns the rows of a namespace, or of all namespaces, sorted by
// name, with rules in their order.
func readIngresses(ctx context.Context, c *cluster, namespace string) ([]ingressRow, error) {
	ingresses := networkingv1.IngressList{}
	if err := c.List(ctx, kube.Ingresses, namespace, metav1.ListOptions{}, &ingresses); err != nil {
		return nil, c.explained(err, "list the Ingresses%s", inNamespace(namespace))
	}
	endpointSlices := discoveryv1.EndpointSliceList{}
	if err := c.List(ctx, kube.EndpointSlices, namespace, metav1.ListOptions{}, &endpointSlices); err != nil {
		return nil, c.explained(err, "list the EndpointSlices%s", inNamespace(namespace))
	}
	slices.SortFunc(ingresses.Items, func(a, b networkingv1.Ingress) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return ingressRows(ingresses.Items, countEndpoints(endpointSlices.Items)), nil
}

func inNamespace(namespace string) string {
	if namespace == metav1.NamespaceAll {
		return " of all namespaces"
	}
	return " of the namespace " + strconv.Quote(namespace)
}

// countEndpoints returns the number of ready addresses of each Service, without
// duplicates across slices.
func countEndpoints(all []discoveryv1.EndpointSlice) map[snapshot.Name]int {
	addresses := map[snapshot.Name]map[string]bool{}
	for _, slice := range all {
		service := snapshot.Name{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}
		if addresses[service] == nil {
			addresses[service] = map[string]bool{}
		}
		for _, endpoint := range slice.Endpoints {
			if ready := endpoint.Conditions.Ready; len(endpoint.Addresses) > 0 && (ready == nil || *ready) {
				addresses[service][endpoint.Addresses[0]] = true
			}
		}
	}
	counts := map[snapshot.Name]int{}
	for service, found := range addresses {
		counts[service] = len(found)
	}
	return counts
}

func ingressRows(ingresses []networkingv1.Ingress, counts map[snapshot.Name]int) []ingressRow {
	rows := []ingressRow{}
	for _, ing := range ingresses {
		base := ingressRow{Namespace: ing.Namespace, Name: ing.Name, Class: classOf(&ing), Addresses: addressesOf(&ing)}
		if len(ing.Spec.Rules) == 0 && ing.Spec.DefaultBackend != nil {
			rows = append(rows, base.to(catchAll, ing.Spec.DefaultBackend, counts))
		}
		for _, rule := range ing.Spec.Rules {
			base.TLS = hasTLS(&ing, rule.Host)
			host := cmp.Or(rule.Host, catchAll)
			if rule.HTTP == nil {
				rows = append(rows, base.to(host, ing.Spec.DefaultBackend, counts))
				continue
			}
			for _, path := range rule.HTTP.Paths {
				row := base.to(host, &path.Backend, counts)
				row.Path = path.Path
				if path.PathType != nil {
					row.PathType = string(*path.PathType)
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// to fills in the target of a host.
func (r ingressRow) to(host string, backend *networkingv1.IngressBackend, counts map[snapshot.Name]int) ingressRow {
	r.Host = host
	switch {
	case backend == nil:
	case backend.Service != nil:
		r.Service = backend.Service.Name
		r.Port = backend.Service.Port.Name
		if number := backend.Service.Port.Number; number != 0 {
			r.Port = strconv.Itoa(int(number))
		}
		if count, known := counts[snapshot.Name{Namespace: r.Namespace, Name: r.Service}]; known {
			r.Endpoints = &count
		}
	case backend.Resource != nil:
		r.Service = backend.Resource.Kind + "/" + backend.Resource.Name
	}
	return r
}

func classOf(ing *networkingv1.Ingress) string {
	if class := ing.Annotations[snapshot.LegacyClass]; class != "" || ing.Spec.IngressClassName == nil {
		return class
	}
	return *ing.Spec.IngressClassName
}

func addressesOf(ing *networkingv1.Ingress) []string {
	addresses := []string{}
	for _, at := range ing.Status.LoadBalancer.Ingress {
		for _, address := range []string{at.IP, at.Hostname} {
			if address != "" {
				addresses = append(addresses, address)
			}
		}
	}
	return addresses
}

// hasTLS reports whether spec.tls lists a host.
func hasTLS(ing *networkingv1.Ingress, host string) bool {
	return host != "" && slices.ContainsFunc(ing.Spec.TLS, func(t networkingv1.IngressTLS) bool {
		return slices.ContainsFunc(t.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
	})
}

func printIngresses(o output, rows []ingressRow, namespaces bool) error {
	if o.isDocument() {
		return o.value(rows)
	}
	if o.format == asName {
		var objects []model.ObjectRef
		for _, r := range rows {
			objects = append(objects, model.ObjectRef{Kind: "ingress.networking.k8s.io", Namespace: r.Namespace, Name: r.Name})
		}
		return o.names(objects)
	}
	t := table{heading: []string{"INGRESS NAME", "HOST+PATH", "ADDRESSES", "TLS", "SERVICE", "SERVICE PORT", "ENDPOINTS", "CLASS", "PATH TYPE"}, wide: 2}
	if namespaces {
		t.heading = append([]string{"NAMESPACE"}, t.heading...)
	}
	for _, r := range rows {
		row := r.cells()
		if namespaces {
			row = append(cells(r.Namespace), row...)
		}
		t.rows = append(t.rows, row)
	}
	return o.table(t)
}

func (r ingressRow) cells() []cell {
	row := cells(r.Name, r.Host+r.Path, strings.Join(r.Addresses, ","), "NO", r.Service, r.Port, "N/A", r.Class, r.PathType)
	if r.TLS {
		row[3].text = "YES"
	}
	if r.Endpoints != nil {
		row[6].text = strconv.Itoa(*r.Endpoints)
		if *r.Endpoints == 0 {
			row[6].colour = red
		}
	}
	return row
}
