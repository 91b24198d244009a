package prometheus

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAnswers asks a Prometheus that scrapes a loaded Sluice: as the operator sets one up, and
// with honor_labels.
func TestAnswers(t *testing.T) {
	t.Parallel()
	sluice, other := loaded(t), replica(t).Listener.Addr().String()
	renamed, honored := scraping(t, false, sluice, other), scraping(t, true, sluice, other)
	for _, d := range readDashboards(t) {
		t.Run(d.file, func(t *testing.T) {
			panelsHaveData(renamed.in(t), d, "exported_namespace")
			panelsHaveData(honored.in(t), d, "namespace")
		})
	}
	t.Run("alerts", func(t *testing.T) {
		metricsOfAlertsAreThere(renamed.in(t))
		metricsOfAlertsAreThere(honored.in(t))
	})
	t.Run("published", func(t *testing.T) { publishedMetricsAreThere(renamed.in(t)) })
	t.Run("limits", func(t *testing.T) {
		p := renamed.in(t)
		p.must("an Ingress without a host", `nginx_ingress_controller_requests{host="_",ingress="anywhere"}`, some)
		p.must("the limit of an Ingress", fmt.Sprintf(`count by (ingress) (nginx_ingress_controller_requests) == %d`, seriesOfIngress), func(s []series) bool {
			return len(s) == 1 && s[0].Metric["ingress"] == "many"
		})
	})
}

// in returns the server for a part of a test.
func (p *server) in(t *testing.T) *server { return &server{t, p.port, p.deadline} }

// legend is a label in the legend of a panel.
var legend = regexp.MustCompile(`\{\{(\w+)\}\}`)

// panelsHaveData: each variable has values, and each expression too, with all values of the
// variables, or those of one Ingress; some series has a legend.
func panelsHaveData(p *server, d dashboard, label string) {
	p.t.Helper()
	values := map[string]string{"__rate_interval": "1m", "__interval": "15s", "__range": "5m", "label": label}
	for _, v := range d.Templating.List {
		switch {
		case v.Type != "query":
			continue
		case v.Multi:
			values[v.Name] = ".*"
		default:
			values[v.Name] = map[string]string{"namespace": "shop", "ingress": "web"}[v.Name]
		}
	}
	fill := func(text string) string {
		return use.ReplaceAllStringFunc(text, func(name string) string { return values[strings.Trim(name, "${}")] })
	}
	for _, v := range d.Templating.List {
		if query := fill(v.queryOf()); query != "" {
			of, found := strings.CutPrefix(query, "label_values(")
			selector, name := of[:strings.LastIndex(of, ", ")], strings.TrimSuffix(of[strings.LastIndex(of, ", ")+2:], ")")
			p.must(d.file+" $"+v.Name, "count by ("+name+") ("+selector+")", func(s []series) bool {
				return found && len(s) > 0 && s[0].Metric[name] != ""
			})
		}
	}
	expressions := d.expressions()
	for _, what := range slices.Sorted(maps.Keys(expressions)) {
		p.must(what, fill(expressions[what]), some)
	}
	for _, panel := range d.Panels {
		for _, q := range panel.Targets {
			if names := legend.FindAllStringSubmatch(q.LegendFormat, -1); names != nil {
				p.must(panel.Title+" has a legend", fill(q.Expr), func(all []series) bool {
					return slices.ContainsFunc(all, func(s series) bool {
						return slices.ContainsFunc(names, func(n []string) bool { return s.Metric[n[1]] != "" })
					})
				})
			}
		}
	}
}

// selector is a metric of Sluice, or whether a target is up, with its labels.
var selector = regexp.MustCompile(`\b(?:(?:nginx_ingress_controller|sluice)_\w+|up)\b(?:\{[^}]*\})?`)

// metricsOfAlertsAreThere: what the alerts compare has data, and Prometheus takes their expressions.
func metricsOfAlertsAreThere(p *server) {
	p.t.Helper()
	for _, a := range readAlerts(p.t) {
		for _, s := range selector.FindAllString(a.Expr, -1) {
			p.must(a.Alert, s, some)
		}
		if _, err := p.query(a.Expr); err != nil {
			p.t.Errorf("%s: %v", a.Alert, err)
		}
	}
}

// never are labels that the published dashboards ask for with ".*", and that neither controller
// has on this metric.
var never = map[string][]string{"nginx_ingress_controller_ssl_expire_time_seconds": {"ingress", "kubernetes_pod_name"}}

// publishedMetricsAreThere: each metric that the published dashboards of ingress-nginx use has a
// series with all labels that they match or group by.
func publishedMetricsAreThere(p *server) {
	p.t.Helper()
	file, err := os.Open("testdata/published.csv")
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 30 {
		p.t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		metric := row[2]
		var matchers []string
		for _, label := range strings.Fields(row[3] + " " + row[4]) {
			if !slices.Contains(never[metric], label) {
				matchers = append(matchers, label+`=~".+"`)
			}
		}
		p.must(row[0]+": "+row[1], metric+"{"+strings.Join(matchers, ",")+"}", some)
	}
}
