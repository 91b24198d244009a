package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// list is a flag's value of words, separated by commas.
type list string

// inert is a flag of ingress-nginx that has no effect here.
type inert struct {
	name string
	// value is the default. A value of another type is an error, to find typing mistakes.
	value  any
	reason string
	// missed is set if a user may miss the effect.
	missed bool
}

// Reasons that several flags have.
const (
	noPort   = "it talks to its nginx over a unix socket"
	oneLog   = "its log goes to standard error, in the format of --log-format"
	oneLevel = "the ConfigMap key controller-log-level decides how much it logs, also while it runs; `kubectl sluice diff` shows the lines of nginx.conf that change"
)

// inerts are all such flags, in the order of docs/reference/flags.md.
var inerts = []inert{
	{"monitor-max-batch-size", 10000, "workers add requests up, so that there is no batch that could be full", false},
	{"enable-annotation-validation", true, "annotations are always validated", false},
	{"deep-inspect", true, "every value in nginx.conf is always quoted, and the structure of the file checked", false},
	{"enable-ssl-chain-completion", false, "certificates are served with the chain in their Secret", true},
	{"disable-sync-events", false, "it writes no events for objects that are served as written", false},
	{"dynamic-configuration-retries", 15, "updates of nginx are retried until they succeed", false},
	{"sync-period", time.Duration(0), "watches report each change, and are restarted when they break", false},
	{"default-server-port", 8181, "requests that no rule matches need no server of their own", false},
	{"status-port", 10246, noPort, false},
	{"stream-port", 10247, noPort, false},
	{"ssl-passthrough-proxy-port", 442, "HTTPS that is not passed through uses a unix socket", false},
	{"health-check-timeout", 10, "nginx has one second to answer the health check; ingress-nginx never reads the value", false},
	{"internal-logger-address", "127.0.0.1:11514", "its nginx runs without a chroot, and logs to standard output", false},
	{"v", "0", oneLevel, false},
	{"vmodule", "", oneLevel, false},
	{"log_backtrace_at", ":0", oneLevel, false},
	{"add_dir_header", false, oneLog, false},
	{"alsologtostderr", false, oneLog, false},
	{"alsologtostderrthreshold", "INFO", oneLog, false},
	{"legacy_stderr_threshold_behavior", true, oneLog, false},
	{"log_dir", "", oneLog, false},
	{"log_file", "", oneLog, false},
	{"log_file_max_size", 1800, oneLog, false},
	{"logtostderr", true, oneLog, false},
	{"one_output", false, oneLog, false},
	{"skip_headers", false, oneLog, false},
	{"skip_log_headers", false, oneLog, false},
	{"stderrthreshold", "ERROR", oneLog, false},
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
}

// declare adds a flag of the value's type. A name of one letter is also a short form, as
// in -v=2.
func (i inert) declare(flags *pflag.FlagSet) {
	switch value := i.value.(type) {
	case bool:
		flags.Bool(i.name, value, "")
	case int:
		flags.Int(i.name, value, "")
	case float64:
		flags.Float64(i.name, value, "")
	case time.Duration:
		flags.Duration(i.name, value, "")
	case list:
		flags.StringSlice(i.name, strings.FieldsFunc(string(value), func(r rune) bool { return r == ',' }), "")
	case string:
		short := ""
		if len(i.name) == 1 {
			short = i.name
		}
		flags.StringP(i.name, short, value, "")
	}
}
