package metrics

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	common "github.com/ncabatoff/process-exporter"
	"github.com/ncabatoff/process-exporter/proc"
	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/metrics/requests"
	"sluice/internal/nginx"
)

// counters are nginx's own counters of connections and requests, over all of its workers and
// configurations.
// Source: https://nginx.org/en/docs/http/ngx_http_stub_status_module.html
type counters struct {
	*described
	read                          func(context.Context) ([]byte, error)
	connections, requests, states *prometheus.Desc
}

func newCounters(o Options, labels prometheus.Labels) *counters {
	d, of := &described{labels: labels}, requests.Prefix+"nginx_process_"
	return &counters{
		described: d, read: o.Counters,
		connections: d.desc(of+"connections_total", "Connections of clients that nginx accepted and handled.", "state"),
		requests:    d.desc(of+"requests_total", "Requests of clients, also those that are not finished."),
		states:      d.desc(of+"connections", "Connections of clients by their state: active (all), reading, writing, waiting.", "state"),
	}
}

// statusPage is the answer of stub_status.
var statusPage = regexp.MustCompile(`Active connections: (\d+)\s+server accepts handled requests\s+(\d+) (\d+) (\d+)\s+Reading: (\d+) Writing: (\d+) Waiting: (\d+)`)

// Collect implements prometheus.Collector.
func (c *counters) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	body, err := c.read(ctx)
	found := statusPage.FindStringSubmatch(string(body))
	if err == nil && found == nil {
		err = fmt.Errorf("nginx's counters: want the page of stub_status (got %q)", body)
	}
	if err != nil {
		to <- prometheus.NewInvalidMetric(c.requests, err)
		return
	}
	values := make([]float64, len(found))
	for i, text := range found[1:] {
		values[i+1], _ = strconv.ParseFloat(text, 64)
	}
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	to <- prometheus.MustNewConstMetric(c.connections, counter, values[2], "accepted")
	to <- prometheus.MustNewConstMetric(c.connections, counter, values[3], "handled")
	to <- prometheus.MustNewConstMetric(c.requests, counter, values[4])
	for i, state := range map[int]string{1: "active", 5: "reading", 6: "writing", 7: "waiting"} {
		to <- prometheus.MustNewConstMetric(c.states, gauge, values[i], state)
	}
}

// processes are the metrics of the processes of nginx. The counters of processes that have
// ended stay in them.
type processes struct {
	*described
	mutex   sync.Mutex
	grouper *proc.Grouper
	fs      *proc.FS

	count, cpu, read, written, resident, virtual, started *prometheus.Desc
}

// group is the name of the group of nginx's processes.
const group = "nginx"

// namer takes the master of nginx; its children follow.
type namer struct{ process *nginx.Process }

// MatchAndName implements common.MatchNamer.
func (n namer) MatchAndName(of common.ProcAttributes) (bool, string) {
	return of.PID != 0 && of.PID == n.process.Running(), group
}

// String implements fmt.Stringer.
func (namer) String() string { return group }

func newProcesses(o Options, labels prometheus.Labels) *processes {
	d, of := &described{labels: labels}, requests.Prefix+"nginx_process_"
	p := &processes{
		described: d,
		count:     d.desc(of+"num_procs", "Processes of nginx."),
		cpu:       d.desc(of+"cpu_seconds_total", "Seconds of processor time of nginx, user and system."),
		read:      d.desc(of+"read_bytes_total", "Bytes that nginx has read from disks."),
		written:   d.desc(of+"write_bytes_total", "Bytes that nginx has written to disks."),
		resident:  d.desc(of+"resident_memory_bytes", "Memory of nginx's processes. What several of them share counts for each."),
		virtual:   d.desc(of+"virtual_memory_bytes", "Addresses of nginx's processes in bytes."),
		started:   d.desc(of+"oldest_start_time_seconds", "When the oldest process of nginx started, in seconds since 1970."),
	}
	if fs, err := proc.NewFS("/proc", false); err == nil {
		p.fs, p.grouper = fs, proc.NewGrouper(namer{o.Process}, true, false, true, time.Minute, false, false)
	}
	return p
}

// Collect implements prometheus.Collector.
func (p *processes) Collect(to chan<- prometheus.Metric) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.grouper == nil {
		return
	}
	_, groups, err := p.grouper.Update(p.fs.AllProcs())
	if err != nil {
		to <- prometheus.NewInvalidMetric(p.count, err)
		return
	}
	of, found := groups[group]
	if !found {
		return
	}
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	to <- prometheus.MustNewConstMetric(p.count, gauge, float64(of.Procs))
	to <- prometheus.MustNewConstMetric(p.cpu, counter, of.CPUUserTime+of.CPUSystemTime)
	to <- prometheus.MustNewConstMetric(p.read, counter, float64(of.ReadBytes))
	to <- prometheus.MustNewConstMetric(p.written, counter, float64(of.WriteBytes))
	to <- prometheus.MustNewConstMetric(p.resident, gauge, float64(of.ResidentBytes))
	to <- prometheus.MustNewConstMetric(p.virtual, gauge, float64(of.VirtualBytes))
	to <- prometheus.MustNewConstMetric(p.started, gauge, float64(of.OldestStartTime.Unix()))
}
