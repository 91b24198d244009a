package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// kind is the type of a flag's value. It is checked even without an effect, to find typing
// mistakes.
type kind string

const (
	boolean  kind = "bool"
	number   kind = "int"
	fraction kind = "float"
	duration kind = "duration"
	text     kind = "string"
	list     kind = "strings"
)

// inert is a flag of ingress-nginx that has no effect here.
type inert struct {
	name   string
	kind   kind
	value  string // the default
	reason string
	// missed is set if a user may miss the effect.
	missed bool
}

// Reasons that several flags have.
const (
	noMetrics  = "it serves no metrics of requests"
	noProfiles = "it serves no profiles of itself"
	noWebhook  = "it serves no admission webhook: it leaves out and reports objects that nginx would reject; delete the ValidatingWebhookConfiguration of the former controller, or the API server rejects Ingresses"
	noUse      = "it serves no admission webhook"
	noGeoIP    = "it reads no GeoIP2 databases"
	noPort     = "it talks to its nginx over a unix socket"
	oneLog     = "its log goes to standard error, in the format of --log-format"
	oneLevel   = "its log has one level of detail"
)

// inerts are all such flags, in the order of docs/reference/flags.md.
var inerts = []inert{
	{"enable-metrics", boolean, "false", noMetrics, true},
	{"metrics-per-host", boolean, "true", noMetrics, false},
	{"metrics-per-undefined-host", boolean, "false", noMetrics, true},
	{"report-status-classes", boolean, "false", noMetrics, false},
	{"exclude-socket-metrics", list, "", noMetrics, false},
	{"monitor-max-batch-size", number, "10000", noMetrics, false},
	{"bucket-factor", fraction, "0", noMetrics, false},
	{"max-buckets", number, "100", noMetrics, false},
	{"time-buckets", list, "0.005,0.01,0.025,0.05,0.1,0.25,0.5,1,2.5,5,10", noMetrics, false},
	{"length-buckets", list, "10,20,30,40,50,60,70,80,90,100", noMetrics, false},
	{"size-buckets", list, "10,100,1000,10000,100000,1e+06,1e+07", noMetrics, false},
	{"profiling", boolean, "true", noProfiles, false},
	{"profiler-address", text, "127.0.0.1", noProfiles, false},
	{"profiler-port", number, "10245", noProfiles, false},
	{"validating-webhook", text, "", noWebhook, true},
	{"validating-webhook-certificate", text, "", noUse, false},
	{"validating-webhook-key", text, "", noUse, false},
	{"disable-full-test", boolean, "false", "nginx always checks the whole file before a reload", false},
	{"enable-annotation-validation", boolean, "true", "annotations are always validated", false},
	{"deep-inspect", boolean, "true", "every value in nginx.conf is always quoted, and the structure of the file checked", false},
	{"enable-ssl-chain-completion", boolean, "false", "certificates are served with the chain in their Secret", true},
	{"enable-topology-aware-routing", boolean, "false", "endpoints of all zones are used equally", true},
	{"disable-sync-events", boolean, "false", "it writes no events for objects that are served as written", false},
	{"dynamic-configuration-retries", number, "15", "updates of nginx are retried until they succeed", false},
	{"sync-period", duration, "0s", "watches report each change, and are restarted when they break", false},
	{"default-server-port", number, "8181", "requests that no rule matches need no server of their own", false},
	{"status-port", number, "10246", noPort, false},
	{"stream-port", number, "10247", noPort, false},
	{"ssl-passthrough-proxy-port", number, "442", "HTTPS that is not passed through uses a unix socket", false},
	{"health-check-timeout", number, "10", "nginx has one second to answer the health check", false},
	{"internal-logger-address", text, "127.0.0.1:11514", "its nginx runs without a chroot, and logs to standard output", false},
	{"maxmind-edition-ids", text, "GeoLite2-City,GeoLite2-ASN", noGeoIP, false},
	{"maxmind-license-key", text, "", noGeoIP, true},
	{"maxmind-mirror", text, "", noGeoIP, true},
	{"maxmind-retries-count", number, "1", noGeoIP, false},
	{"maxmind-retries-timeout", duration, "0s", noGeoIP, false},
	{"v", text, "0", oneLevel, false},
	{"vmodule", text, "", oneLevel, false},
	{"log_backtrace_at", text, ":0", oneLevel, false},
	{"add_dir_header", boolean, "false", oneLog, false},
	{"alsologtostderr", boolean, "false", oneLog, false},
	{"alsologtostderrthreshold", text, "INFO", oneLog, false},
	{"legacy_stderr_threshold_behavior", boolean, "true", oneLog, false},
	{"log_dir", text, "", oneLog, false},
	{"log_file", text, "", oneLog, false},
	{"log_file_max_size", number, "1800", oneLog, false},
	{"logtostderr", boolean, "true", oneLog, false},
	{"one_output", boolean, "false", oneLog, false},
	{"skip_headers", boolean, "false", oneLog, false},
	{"skip_log_headers", boolean, "false", oneLog, false},
	{"stderrthreshold", text, "ERROR", oneLog, false},
}

func inertNamed(name string) (inert, bool) {
	at := slices.IndexFunc(inerts, func(i inert) bool { return i.name == name })
	if at < 0 {
		return inert{}, false
	}
	return inerts[at], true
}

func inertNames() []string {
	var names []string
	for _, i := range inerts {
		names = append(names, i.name)
	}
	return names
}

// add adds the flag, hidden from the list of flags with an effect.
func (i inert) add(flags *pflag.FlagSet) {
	if flags.Lookup(i.name) == nil {
		i.declare(flags)
	}
	flag := flags.Lookup(i.name)
	flag.Hidden, flag.Usage = true, "no effect in Sluice: "+i.reason
	if err := flag.Value.Set(i.value); i.value != "" && err != nil {
		panic(fmt.Sprintf("the default of --%s: %v", i.name, err)) // every test would see it
	}
	flag.DefValue = flag.Value.String()
}

// declare adds a flag of the kind. A name of one letter is also a short form, as in -v=2.
func (i inert) declare(flags *pflag.FlagSet) {
	switch i.kind {
	case boolean:
		flags.Bool(i.name, false, "")
	case number:
		flags.Int(i.name, 0, "")
	case fraction:
		flags.Float64(i.name, 0, "")
	case duration:
		flags.Duration(i.name, 0, "")
	case list:
		flags.StringSlice(i.name, nil, "")
	default:
		short := ""
		if len(i.name) == 1 {
			short = i.name
		}
		flags.StringP(i.name, short, "", "")
	}
}
