package metrics

import (
	"context"
	builds "runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/debug"
	"sluice/internal/metrics/requests"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/snapshot"
)

// described makes the descriptions of the metrics of a collector, which all have the labels of the
// controller, and gives them to the registry.
type described struct {
	labels prometheus.Labels
	made   []*prometheus.Desc
}

func (d *described) desc(name, help string, labels ...string) *prometheus.Desc {
	made := prometheus.NewDesc(name, help, labels, d.labels)
	d.made = append(d.made, made)
	return made
}

// Describe implements prometheus.Collector.
func (d *described) Describe(to chan<- *prometheus.Desc) {
	for _, made := range d.made {
		to <- made
	}
}

// stateCollector reads what the controller has published, and what nginx's workers say.
type stateCollector struct {
	*described
	options      Options
	certificates *certificates

	build, leader, hash, orphan                             *prometheus.Desc
	problems, ingresses, servers, locations, conf           *prometheus.Desc
	generations, generationMemory, dictionaries, dictionary *prometheus.Desc
	pushes, pushFailures                                    *prometheus.Desc
}

func newStateCollector(o Options, labels prometheus.Labels) *stateCollector {
	// The labels of certificates are their own.
	d, controller := &described{labels: labels, made: []*prometheus.Desc{expireTime, certificateInfo}}, requests.Prefix
	return &stateCollector{
		described: d, options: o, certificates: newCertificates(),
		build:            d.desc(controller+"build_info", "Always 1; the labels say what runs.", "release", "build", "repository"),
		leader:           d.desc(controller+"leader_election_status", "Whether this replica leads.", "name"),
		hash:             d.desc(controller+"config_hash", "A number of the configuration that nginx runs; others have other numbers. 0 while the last one could not be loaded."),
		orphan:           d.desc(controller+"orphan_ingress", "1 for an Ingress with a Service that is missing (no-service) or has no endpoints (no-endpoint).", "namespace", "ingress", "type"),
		problems:         d.desc("sluice_problems", "Problems by their reason.", "reason"),
		ingresses:        d.desc("sluice_ingresses", "Ingresses by their state: served, quarantined, denied (served, with paths that answer 503), and deleted (still served, because the configuration without them is not in force yet). One can be in several.", "state"),
		servers:          d.desc("sluice_servers", "Hosts in nginx.conf."),
		locations:        d.desc("sluice_locations", "Locations in nginx.conf."),
		conf:             d.desc("sluice_nginx_conf_bytes", "Size of nginx.conf."),
		generations:      d.desc("sluice_generation_workers", "Workers of nginx by their configuration: of the newest one (serving), and of older ones that finish their requests (draining).", "state"),
		generationMemory: d.desc("sluice_generation_memory_bytes", "Memory of the workers of nginx by their configuration: serving and draining, as of sluice_generation_workers.", "state"),
		dictionaries:     d.desc("sluice_dictionary_bytes", "Size of a dictionary of nginx, by its name in lua-shared-dicts.", "dictionary"),
		dictionary:       d.desc("sluice_dictionary_used_bytes", "Used part of a dictionary of nginx.", "dictionary"),
		pushes:           d.desc("sluice_pushes_total", "Pushes of endpoints and certificates to nginx."),
		pushFailures:     d.desc("sluice_push_failures_total", "Pushes of which something was not stored."),
	}
}

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(c.build, 1, c.options.Version, commit(), "")
	leads := c.options.Leads == nil || c.options.Leads()
	if c.options.Leads != nil {
		gauge(c.leader, number(leads), c.options.Election)
	}
	all, failed := c.options.Pushes()
	to <- prometheus.MustNewConstMetric(c.pushes, prometheus.CounterValue, float64(all))
	to <- prometheus.MustNewConstMetric(c.pushFailures, prometheus.CounterValue, float64(failed))
	c.collectWorkers(gauge)
	state := c.options.State()
	if state == nil {
		return
	}
	gauge(c.hash, hashOf(state))
	c.collectProblems(gauge, state.Problems)
	for o := range orphansOf(state) {
		gauge(c.orphan, 1, o.ingress.Namespace, o.ingress.Name, o.kind)
	}
	if confirmed := state.Confirmed; confirmed != nil {
		gauge(c.ingresses, float64(len(confirmed.Ingresses)), "served")
		gauge(c.ingresses, float64(state.Deleted()), "deleted")
		gauge(c.servers, float64(len(confirmed.Config.Static.Servers)))
		locations := 0
		for _, s := range confirmed.Config.Static.Servers {
			locations += len(s.Locations)
		}
		gauge(c.locations, float64(locations))
		gauge(c.conf, float64(confirmed.File.Len()))
		c.certificates.collect(to, state.Told, c.options.Class, leads)
	}
}

// commit returns that of this program, empty if it is not known.
func commit() string {
	info, _ := builds.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func number(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// hashOf returns the first 52 bits of the hash of the confirmed file, which a float64 holds.
func hashOf(s *debug.State) float64 {
	if s.Confirmed == nil || s.Last != nil && s.Last.Err != nil {
		return 0
	}
	hash := s.Confirmed.File.Hash()
	bits, _ := strconv.ParseUint(hash[:min(13, len(hash))], 16, 64)
	return float64(bits)
}

// statusTimeout limits the question to nginx.
const statusTimeout = time.Second

func (c *stateCollector) collectWorkers(gauge func(*prometheus.Desc, float64, ...string)) {
	serving, draining := c.options.Process.Generations()
	drained := nginx.Generation{}
	for _, g := range draining {
		drained.Workers += g.Workers
		drained.Memory += g.Memory
	}
	for state, g := range map[string]nginx.Generation{"serving": serving, "draining": drained} {
		gauge(c.generations, float64(g.Workers), state)
		gauge(c.generationMemory, float64(g.Memory), state)
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	status, err := c.options.Status(ctx)
	if err != nil {
		return
	}
	for _, m := range status.Memory {
		gauge(c.dictionaries, float64(m.Size), m.Name)
		gauge(c.dictionary, float64(m.Used), m.Name)
	}
}

// collectProblems counts Problems, and the objects that they quarantine or deny.
func (c *stateCollector) collectProblems(gauge func(*prometheus.Desc, float64, ...string), problems []model.Problem) {
	reasons := map[string]int{}
	quarantined, denied := map[model.ObjectRef]bool{}, map[model.ObjectRef]bool{}
	for _, p := range problems {
		reasons[string(p.Reason)]++
		if p.Object.Kind != "Ingress" {
			continue
		}
		if p.Reason == model.Refused || p.Reason == model.Untested {
			quarantined[p.Object] = true
		}
		if p.Denies {
			denied[p.Object] = true
		}
	}
	for reason, n := range reasons {
		gauge(c.problems, float64(n), reason)
	}
	gauge(c.ingresses, float64(len(quarantined)), "quarantined")
	gauge(c.ingresses, float64(len(denied)), "denied")
}

// hasIngress reports whether an Ingress is in the snapshot of a state.
func hasIngress(s *debug.State, namespace, name string) bool {
	return s.Snapshot.Ingress(snapshot.Name{Namespace: namespace, Name: name}) != nil
}
