package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

const topExample = `  # The busiest Ingresses of all namespaces
  kubectl sluice top --all-namespaces

  # Those of one namespace that fail most, over ten seconds
  kubectl sluice top --namespace shop --interval 10s --sort 5xx

  # Of one pod, for a program to read
  kubectl sluice top -A --pod sluice-controller-5d8f6c9b7-x2v4q -o json`

// shortestInterval and longestInterval limit --interval. nginx's workers send their counts
// each half second.
const (
	shortestInterval = time.Second
	longestInterval  = 10 * time.Minute
)

// topOrders are the orders of --sort. The first is the default.
var topOrders = []string{"requests", "4xx", "5xx", "p50", "p99", "name"}

func topCommand(s *session) *cobra.Command {
	var all bool
	var interval time.Duration
	var order string
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the requests, errors and latency of Ingresses",
		Long: "Show the requests per second of each Ingress, how many of them ended with a status of 4xx or 5xx, and the time within which half\n" +
			"of them (P50) and 99 of 100 (P99) were answered. The counters of all ready pods of the controller are read twice and added up;\n" +
			"with --pod, those of one. Ingresses without requests are left out. Times are interpolated within buckets (--time-buckets of\n" +
			"the controller).\n\n" +
			"The controller counts requests with --enable-metrics, which is controller.metrics.enabled of the chart.",
		Example: topExample,
		Args:    noMore,
	}
	pods, output := s.podFlags(cmd), addFormat(cmd, asTable, asJSON, asYAML)
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "show the Ingresses of all namespaces, and the requests that no Ingress takes")
	cmd.Flags().DurationVar(&interval, "interval", 2*time.Second, "time between the two looks, such as 10s")
	cmd.Flags().StringVar(&order, "sort", topOrders[0], "order of the rows: "+model.OneOf(topOrders))
	mustComplete(cmd, "sort", cobra.FixedCompletions(topOrders, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case interval < shortestInterval || interval > longestInterval:
			return fmt.Errorf("--interval: want a time from %s to %s (got %s)", shortestInterval, longestInterval, interval)
		case !slices.Contains(topOrders, order):
			return fmt.Errorf("--sort: want %s (got %q)", model.OneOf(topOrders), order)
		}
		return s.top(cmd, pods, output.chosen, topAsked{all, interval, order})
	}
	return cmd
}

// topAsked is what a user asks for.
type topAsked struct {
	all      bool
	interval time.Duration
	order    string
}

// top reads the counters twice and prints what came between.
func (s *session) top(cmd *cobra.Command, f *podFlags, format string, asked topAsked) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience+asked.interval)
	defer cancel()
	c, err := s.connect()
	if err != nil {
		return err
	}
	pods, err := f.findReady(ctx, c)
	if err != nil {
		return err
	}
	namespace := c.namespace
	if asked.all {
		namespace = ""
	}
	look := func() ([]debugapi.Traffic, []error) {
		return eachPod[debugapi.Traffic](ctx, f, c, pods, asking(debugapi.TrafficPath, debugapi.NamespaceParam, namespace))
	}
	first, failed := look()
	if !slices.Contains(failed, nil) {
		return errors.Join(failed...)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(asked.interval):
	}
	second, again := look()
	var sum traffic
	for i := range pods {
		switch {
		case failed[i] != nil:
		case again[i] != nil:
			failed[i] = again[i]
		default:
			failed[i] = sum.add(pods[i].Name, first[i], second[i])
		}
	}
	return errors.Join(s.printTop(s.output(format), sum.top(asked.order), namespace), errors.Join(failed...))
}

// findReady returns the selected pods that are ready, and all of them if none is.
func (f *podFlags) findReady(ctx context.Context, c *cluster) ([]corev1.Pod, error) {
	pods, err := f.find(ctx, c)
	if ready := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return !isReady(&p) }); len(ready) > 0 {
		pods = ready
	}
	return pods, err
}

// top is the result of `top`, also as JSON.
type top struct {
	// Pods is the number of pods whose requests are added up, over Seconds on average.
	Pods      int      `json:"pods"`
	Seconds   float64  `json:"seconds"`
	Ingresses []topRow `json:"ingresses"`
}

// topRow are the requests of one Ingress, or those that no Ingress takes, without a name.
type topRow struct {
	Namespace string  `json:"namespace"`
	Ingress   string  `json:"ingress"`
	PerSecond float64 `json:"requestsPerSecond"`
	// The shares are parts of 1.
	ClientErrors float64 `json:"clientErrors"`
	ServerErrors float64 `json:"serverErrors"`
	// P50 and P99 are in seconds, null if they are not known. One that is longer than the last
	// bucket has the bound of that.
	P50              *float64 `json:"p50"`
	P99              *float64 `json:"p99"`
	above50, above99 bool
}

func (s *session) printTop(o output, t top, namespace string) error {
	if o.isDocument() {
		return o.value(t)
	}
	if len(t.Ingresses) == 0 {
		s.note("no requests in %.1f s%s", t.Seconds, where(namespace, ""))
		return nil
	}
	return o.table(t.table())
}

func (t top) table() table {
	rows := table{heading: []string{"NAMESPACE", "INGRESS", "REQUESTS/S", "4XX", "5XX", "P50", "P99"}}
	for _, r := range t.Ingresses {
		row := cells(orDash(r.Namespace), orDash(r.Ingress), fmt.Sprintf("%.1f", r.PerSecond), percent(r.ClientErrors), percent(r.ServerErrors), latency(r.P50, r.above50), latency(r.P99, r.above99))
		if r.ServerErrors > 0 {
			row[4].colour = red
		}
		rows.rows = append(rows.rows, row)
	}
	return rows
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// latency writes a time in milliseconds, or in seconds if it is long.
func latency(seconds *float64, above bool) string {
	switch {
	case seconds == nil:
		return "-"
	case above:
		return ">" + latency(seconds, false)
	case *seconds < 0.01:
		return fmt.Sprintf("%.1fms", 1000**seconds)
	case *seconds < 1:
		return fmt.Sprintf("%.0fms", 1000**seconds)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", *seconds), ".0") + "s"
}
