package prometheus

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// The labels of a controller, those of its target, and those of an Ingress as Prometheus has them
// by default, and with honor_labels.
const (
	controllerLabels = `controller_namespace="sluice",controller_class="k8s.io/ingress-nginx",controller_pod="sluice-0"`
	targetLabels     = `job="sluice",instance="10.0.0.1:10254"`
	all              = controllerLabels + "," + targetLabels
	ofIngress        = all + `,namespace="sluice",exported_namespace="shop",ingress="web"`
	honored          = all + `,namespace="shop",ingress="web"`
	ofCertificate    = targetLabels + `,namespace="sluice",exported_namespace="shop",secret_name="shop-tls",host="web.example"`
)

// healthy are the series of a Sluice in order, in promtool's notation: begin, growth and number.
var healthy = map[string]string{
	`up{` + targetLabels + `}`:                                                 "1x180",
	`sluice_pushes_total{` + all + `}`:                                         "0+3x180",
	`sluice_push_failures_total{` + all + `}`:                                  "1x180",
	`sluice_requests_lost_total{` + all + `}`:                                  "0x180",
	`sluice_dns_names{` + all + `,state="resolved"}`:                           "4x180",
	`sluice_dns_names{` + all + `,state="troubled"}`:                           "0x180",
	`sluice_spans_total{` + all + `,result="exported"}`:                        "0+60x180",
	`sluice_spans_total{` + all + `,result="dropped"}`:                         "3x180",
	`sluice_ingresses{` + all + `,state="served"}`:                             "40x180",
	`sluice_ingresses{` + all + `,state="quarantined"}`:                        "0x180",
	`sluice_ingresses{` + all + `,state="denied"}`:                             "0x180",
	`sluice_ingresses{` + all + `,state="deleted"}`:                            "0x180",
	`sluice_dictionary_bytes{` + all + `,dictionary="certificate_data"}`:       "100x180",
	`sluice_dictionary_used_bytes{` + all + `,dictionary="certificate_data"}`:  "60x180",
	`sluice_generation_memory_bytes{` + all + `,state="serving"}`:              "400000000x180",
	`sluice_generation_memory_bytes{` + all + `,state="draining"}`:             "700000000x180",
	`sluice_sync_duration_seconds_bucket{` + all + `,stage="all",le="1"}`:      "0+1x180",
	`sluice_sync_duration_seconds_bucket{` + all + `,stage="all",le="30"}`:     "0+1x180",
	`sluice_sync_duration_seconds_bucket{` + all + `,stage="all",le="+Inf"}`:   "0+1x180",
	`sluice_webhook_certificate_expire_time_seconds{` + all + `}`:              "2592000x180", // renewed after 60 of 90 days
	`sluice_requests_cut_total{` + ofIngress + `}`:                             "7x180",
	`nginx_ingress_controller_leader_election_status{` + all + `,name="lock"}`: "1x180",
	// Another controller, an ingress-nginx, is none of ours.
	`nginx_ingress_controller_config_last_reload_successful{controller_namespace="old",controller_pod="old-0"}`: "0x180",
	`nginx_ingress_controller_leader_election_status{controller_namespace="old",controller_class="old"}`:        "0x180",
	`up{job="old",instance="10.0.0.9:10254"}`:                                                              "0x180",
	`nginx_ingress_controller_config_last_reload_successful{` + all + `}`:                                  "1x180",
	`nginx_ingress_controller_orphan_ingress{` + ofIngress + `,type="no-endpoint"}`:                        "1x3 _x177", // while it starts
	`nginx_ingress_controller_ssl_expire_time_seconds{` + ofCertificate + `}`:                              "7776000x180",
	`nginx_ingress_controller_ssl_expire_time_seconds{` + targetLabels + `,host="_"}`:                      "1x180", // the self-signed one
	`nginx_ingress_controller_requests{` + ofIngress + `,status="200"}`:                                    "0+600x180",
	`nginx_ingress_controller_requests{` + ofIngress + `,status="502"}`:                                    "0+12x180",  // often, a small share
	`nginx_ingress_controller_requests{` + all + `,exported_namespace="shop",ingress="rare",status="503"}`: "0+1x180",   // all, but seldom
	`nginx_ingress_controller_requests{` + all + `,ingress="",status="503"}`:                               "0+600x180", // of no Ingress
	`nginx_ingress_controller_nginx_process_connections_total{` + all + `,state="accepted"}`:               "0+600x180",
	`nginx_ingress_controller_nginx_process_connections_total{` + all + `,state="handled"}`:                "0+600x180",
}

// scenario is what differs from healthy when an alert has to fire, with its labels besides the
// severity, and its summary. "" stands for no series.
type scenario struct {
	alert, labels, summary string
	series                 map[string]string
}

// now is when promtool looks.
const now = "100m"

var scenarios = []scenario{
	{"SluiceAbsent", "", "Prometheus has no metrics of any Sluice.", map[string]string{`sluice_pushes_total{` + all + `}`: ""}},
	{"SluiceDown", targetLabels, "The Sluice at 10.0.0.1:10254 does not answer Prometheus.", map[string]string{
		`up{` + targetLabels + `}`: "1x80 0x100", `sluice_pushes_total{` + all + `}`: "0+3x80 stale", `sluice_pushes_total{controller_pod="sluice-1"}`: "0+3x180",
	}},
	{"SluiceNoLeader", `controller_namespace="sluice",controller_class="k8s.io/ingress-nginx",name="lock"`, "No replica of Sluice in sluice holds the Lease lock.",
		map[string]string{`nginx_ingress_controller_leader_election_status{` + all + `,name="lock"}`: "1x80 0x100"}},
	{"SluiceSyncSlow", controllerLabels, "Syncs of sluice-0 take 25.8s (90th percentile).", map[string]string{`sluice_sync_duration_seconds_bucket{` + all + `,stage="all",le="1"}`: "0+0.31x180"}},
	{"SluicePushFailing", all, "nginx of sluice-0 does not store the newest endpoints or certificates.", map[string]string{`sluice_push_failures_total{` + all + `}`: "1+1x180"}},
	{"SluiceDictionaryNearlyFull", all + `,dictionary="certificate_data"`, "The dictionary certificate_data of sluice-0 is 85% full.",
		map[string]string{`sluice_dictionary_used_bytes{` + all + `,dictionary="certificate_data"}`: "85x180"}},
	{"SluiceDrainingMemory", all + `,state="draining"`, "Workers of sluice-0 with older configurations hold 1GiB.",
		map[string]string{`sluice_generation_memory_bytes{` + all + `,state="draining"}`: "1073741824x180"}},
	{"SluiceReloadFailed", all, "nginx of sluice-0 could not load the newest configuration.",
		map[string]string{`nginx_ingress_controller_config_last_reload_successful{` + all + `}`: "1x80 0x100"}},
	{"SluiceIngressQuarantined", `controller_namespace="sluice",controller_class="k8s.io/ingress-nginx"`, "Ingresses of k8s.io/ingress-nginx whose newest form nginx rejects: 2.",
		map[string]string{`sluice_ingresses{` + all + `,state="quarantined"}`: "2x180"}},
	{"SluiceIngressDenied", `controller_namespace="sluice",controller_class="k8s.io/ingress-nginx"`,
		"Ingresses of k8s.io/ingress-nginx with paths that answer 503, because their protection cannot be honoured: 1.",
		map[string]string{`sluice_ingresses{` + all + `,state="denied"}`: "1x180"}},
	{"SluiceIngressWithoutService", `namespace="sluice",exported_namespace="shop",ingress="web",type="no-endpoint"`,
		"A Service of the Ingress shop/web is missing or has no endpoints (no-endpoint).",
		map[string]string{`nginx_ingress_controller_orphan_ingress{` + ofIngress + `,type="no-endpoint"}`: "1x180"}},
	{"SluiceCertificateExpiresSoon", `namespace="sluice",exported_namespace="shop",secret_name="shop-tls",host="web.example"`,
		"The certificate of web.example in the Secret shop/shop-tls expires in 10d 0h 0m 0s.",
		map[string]string{`nginx_ingress_controller_ssl_expire_time_seconds{` + ofCertificate + `}`: "870000x180"}},
	{"SluiceCertificateExpired", `namespace="sluice",exported_namespace="shop",secret_name="shop-tls",host="web.example"`,
		"The certificate of web.example in the Secret shop/shop-tls has expired.",
		map[string]string{`nginx_ingress_controller_ssl_expire_time_seconds{` + ofCertificate + `}`: "600x180"}},
	{"SluiceWebhookCertificateExpiresSoon", all, "The certificate of the admission webhook of sluice-0 is missing, or expires in less than 14 days.",
		map[string]string{`sluice_webhook_certificate_expire_time_seconds{` + all + `}`: "1209600x180"}},
	{"SluiceWebhookCertificateExpiresSoon", all, "The certificate of the admission webhook of sluice-0 is missing, or expires in less than 14 days.",
		map[string]string{`sluice_webhook_certificate_expire_time_seconds{` + all + `}`: "0x180"}},
	{"SluiceIngressErrors", `namespace="sluice",exported_namespace="shop",ingress="web"`, "The Ingress shop/web answers 1 requests per second with 5xx, more than 5% of all.",
		map[string]string{`nginx_ingress_controller_requests{` + ofIngress + `,status="502"}`: "0+60x180"}},
	{"SluiceIngressErrors", `namespace="shop",ingress="web"`, "The Ingress shop/web answers 1 requests per second with 5xx, more than 5% of all.",
		map[string]string{ // honor_labels and --report-status-classes
			`nginx_ingress_controller_requests{` + honored + `,status="5xx"}`: "0+60x180", `nginx_ingress_controller_requests{` + honored + `,status="2xx"}`: "0+600x180",
		}},
	{"SluiceConnectionsDropped", all, "nginx of sluice-0 drops connections of clients.",
		map[string]string{`nginx_ingress_controller_nginx_process_connections_total{` + all + `,state="handled"}`: "0+580x180"}},
	{"SluiceRequestsLost", all, "15 requests of sluice-0 are in no metrics: a worker could not send them.", map[string]string{`sluice_requests_lost_total{` + all + `}`: "0+1x180"}},
	{"SluiceNamesUnresolved", all + `,state="troubled"`, "DNS gives sluice-0 no usable address for 2 names.", map[string]string{`sluice_dns_names{` + all + `,state="troubled"}`: "2x180"}},
	{"SluiceSpansDropped", all + `,result="dropped"`, "sluice-0 drops spans: the collector of traces does not take them in time.", map[string]string{`sluice_spans_total{` + all + `,result="dropped"}`: "0+1x180"}},
	{"SluiceRequestsCut", `controller_namespace="sluice",namespace="sluice",exported_namespace="shop",ingress="web"`, "The Ingress shop/web has more series than the limits of Sluice allow.",
		map[string]string{`sluice_requests_cut_total{` + ofIngress + `}`: "0+9x180"}},
	{},
}

// rulesTest is a file for `promtool test rules`.
type rulesTest struct {
	RuleFiles          []string    `json:"rule_files"`
	EvaluationInterval string      `json:"evaluation_interval"`
	Tests              []rulesCase `json:"tests"`
}

type rulesCase struct {
	Name     string              `json:"name"`
	Interval string              `json:"interval"`
	Series   []map[string]string `json:"input_series"`
	Alerts   []expectation       `json:"alert_rule_test"`
}

type expectation struct {
	At    string  `json:"eval_time"`
	Name  string  `json:"alertname"`
	Fires []fired `json:"exp_alerts"`
}

type fired struct {
	Labels      map[string]string `json:"exp_labels"`
	Annotations map[string]string `json:"exp_annotations"`
}

// TestAlerts: promtool takes the rules; each alert fires in its scenarios, and no other one there;
// if all is healthy, none does.
func TestAlerts(t *testing.T) {
	t.Parallel()
	rules, err := filepath.Abs(filepath.Join(charts, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint-fatal", rules)
	alerts := readAlerts(t)
	file := rulesTest{RuleFiles: []string{rules}, EvaluationInterval: "1m"}
	for _, a := range alerts {
		if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.alert == a.Alert }) {
			t.Errorf("%s has no scenario", a.Alert)
		}
	}
	for _, s := range scenarios {
		file.Tests = append(file.Tests, s.test(alerts))
	}
	content, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", path)
}

func promtool(t *testing.T, arguments ...string) {
	t.Helper()
	if output, err := exec.Command(program(t, "promtool"), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}

func (s scenario) test(alerts []alert) rulesCase {
	test := rulesCase{Name: s.alert, Interval: "1m"}
	series := maps.Clone(healthy)
	maps.Copy(series, s.series)
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if series[name] != "" {
			test.Series = append(test.Series, map[string]string{"series": name, "values": series[name]})
		}
	}
	for _, a := range alerts {
		expected := expectation{At: now, Name: a.Alert, Fires: []fired{}}
		if a.Alert == s.alert {
			labels := map[string]string{"severity": a.Labels["severity"]}
			for _, pair := range strings.Split(s.labels, `",`) {
				if name, value, found := strings.Cut(pair, `="`); found {
					labels[name] = strings.TrimSuffix(value, `"`)
				}
			}
			expected.Fires = []fired{{labels, map[string]string{"summary": s.summary, "runbook_url": a.Annotations["runbook_url"]}}}
		}
		test.Alerts = append(test.Alerts, expected)
	}
	return test
}
