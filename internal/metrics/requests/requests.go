// Package requests keeps the metrics of requests.
//
// In go the datagrams of nginx's workers, which rootfs/etc/nginx/lua/sluice/metrics.lua
// describes. Out go metric families with the names and labels of ingress-nginx. The number
// of series is limited, for each Ingress and in all; what is beyond it is counted.
package requests

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Options configure a Store.
type Options struct {
	// PerHost adds the label host. StatusClasses makes a status a class, such as "2xx".
	PerHost, StatusClasses bool
	// Excluded are the names of metrics that are left out.
	Excluded []string
	// Buckets are the upper bounds of buckets.
	Buckets Buckets
	// MostOfIngress and Most are the most series of an Ingress and in all; an Ingress has
	// Reserved series also beyond Most. A series is one combination of labels, with all metrics.
	MostOfIngress, Most int
	// Labels are those of every series.
	Labels map[string]string
	// Exists reports whether there is an Ingress; nil means that every one exists.
	Exists func(namespace, name string) bool
}

// Reserved is the number of series that an Ingress can always have, whatever others have.
const Reserved = 10

// Buckets are the upper bounds of the buckets of histograms.
type Buckets struct {
	// Time is in seconds, Length and Size are in bytes.
	Time, Length, Size []float64
	// Factor is the growth of the buckets of native histograms; there are none if it is not
	// greater than 1. Most is the most buckets of one; 0 is no limit.
	Factor float64
	Most   int
}

// labels are those of a series.
type labels struct {
	host, namespace, ingress, service, path string
	method, status, canary                  string
}

func (l labels) compare(other labels) int {
	return cmp.Or(
		cmp.Compare(l.namespace, other.namespace), cmp.Compare(l.ingress, other.ingress), cmp.Compare(l.host, other.host),
		cmp.Compare(l.path, other.path), cmp.Compare(l.service, other.service), cmp.Compare(l.method, other.method),
		cmp.Compare(l.status, other.status), cmp.Compare(l.canary, other.canary),
	)
}

// Ingress is the Ingress of a series; empty for requests that no Ingress takes.
type Ingress struct{ Namespace, Name string }

func (l labels) of() Ingress { return Ingress{l.namespace, l.ingress} }

// series are the metrics of requests with the same labels.
type series struct {
	labels labels
	pairs  []*dto.LabelPair
	// text are the pairs in the text format, without the brace at the end.
	text     string
	requests float64
	// seen is when the last request was counted.
	seen          time.Time
	distributions [metrics]distribution
}

// Store holds the metrics. Its methods may be called at any time.
type Store struct {
	options  Options
	families []family

	mutex  sync.Mutex
	series map[labels]*series
	// sorted are the series, nil after one came or went.
	sorted    []*series
	ofIngress map[Ingress]int
	cut       map[Ingress]uint64
	lost      uint64
	// swept is when idle series were looked for. now is the clock.
	swept time.Time
	now   func() time.Time
}

// New returns a Store without series.
func New(o Options) *Store {
	return &Store{now: time.Now, options: o, families: familiesOf(o), series: map[labels]*series{}, ofIngress: map[Ingress]int{}, cut: map[Ingress]uint64{}}
}

// Add adds the records of a datagram. What it cannot read is left out.
func (s *Store) Add(datagram []byte) {
	records, lost := decode(datagram)
	now := s.now()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.lost += lost
	for _, r := range records {
		s.add(r, now)
	}
}

func (s *Store) add(r record, now time.Time) {
	l := s.reduce(r.labels)
	found := s.series[l]
	if found == nil && l.of() == (Ingress{}) {
		l = s.coarse(l)
		found = s.series[l]
	}
	if found == nil {
		of := l.of()
		if s.full(of) && !s.sweep(now, of) {
			s.cut[of] += r.n
			return
		}
		pairs := s.pairs(l)
		found = &series{labels: l, pairs: pairs, text: textOf(pairs)}
		s.series[l], s.sorted = found, nil
		s.ofIngress[of]++
	}
	found.requests, found.seen = found.requests+float64(r.n), now
	for _, f := range s.families {
		if f.of != count && r.values[f.of] >= 0 {
			found.distributions[f.of].add(r.values[f.of], r.n, f)
		}
	}
}

// coarse leaves out details of requests without an Ingress, which share the series of one: beyond half
// of these their methods, and beyond three quarters their statuses. What is left is for further hosts.
func (s *Store) coarse(l labels) labels {
	n, most := s.ofIngress[l.of()], s.options.MostOfIngress
	if 2*n >= most {
		l.method = otherMethod
	}
	if 4*n >= 3*most {
		l.status = classOf(l.status)
	}
	return l
}

// classOf returns the class of a status, such as "2xx".
func classOf(status string) string {
	if len(status) != 3 {
		return status
	}
	return status[:1] + "xx"
}

// A series without a request for idleFor makes room for others of a full Ingress, such as after
// a Service was renamed. They are looked for once in sweepEvery.
const idleFor, sweepEvery = time.Hour, time.Minute

// sweep removes the idle series of full Ingresses, and reports whether one of them has room.
func (s *Store) sweep(now time.Time, of Ingress) bool {
	if now.Sub(s.swept) < sweepEvery {
		return false
	}
	s.swept = now
	for l, one := range s.series {
		if now.Sub(one.seen) > idleFor && s.full(l.of()) {
			delete(s.series, l)
			s.sorted = nil
			s.ofIngress[l.of()]--
		}
	}
	return !s.full(of)
}

// full reports whether an Ingress can have no further series.
func (s *Store) full(of Ingress) bool {
	n := s.ofIngress[of]
	return n >= s.options.MostOfIngress || n >= Reserved && len(s.series) >= s.options.Most
}

// reduce leaves out what the options do, and cuts what objects and clients choose freely.
func (s *Store) reduce(l labels) labels {
	l.host, l.path, l.canary = Label(l.host), Label(l.path), Label(l.canary)
	if !s.options.PerHost {
		l.host = ""
	}
	if s.options.StatusClasses {
		l.status = classOf(l.status)
	}
	return l
}

// Cut returns the numbers of requests that are in no series, because there are as many as the
// limits allow, by Ingress, and the number of those that workers could not send.
func (s *Store) Cut() (cut map[Ingress]uint64, lost uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return maps.Clone(s.cut), s.lost
}

// Series returns the number of series.
func (s *Store) Series() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.series)
}

// pairs returns the labels of a series, sorted.
func (s *Store) pairs(l labels) []*dto.LabelPair {
	all := map[string]string{
		"namespace": l.namespace, "ingress": l.ingress, "service": l.service, "path": l.path,
		"method": l.method, "status": l.status, "canary": l.canary,
	}
	if s.options.PerHost {
		all["host"] = l.host
	}
	for name, value := range s.options.Labels {
		all[name] = value
	}
	pairs := make([]*dto.LabelPair, 0, len(all))
	for name, value := range all {
		pairs = append(pairs, &dto.LabelPair{Name: &name, Value: &value})
	}
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	return pairs
}

// forget removes the series of Ingresses that no longer exist.
func (s *Store) forget() {
	if s.options.Exists == nil {
		return
	}
	gone := func(of Ingress) bool { return of != (Ingress{}) && !s.options.Exists(of.Namespace, of.Name) }
	maps.DeleteFunc(s.cut, func(of Ingress, _ uint64) bool { return gone(of) })
	before := len(s.ofIngress)
	maps.DeleteFunc(s.ofIngress, func(of Ingress, _ int) bool { return gone(of) })
	if len(s.ofIngress) == before {
		return
	}
	s.sorted = nil
	maps.DeleteFunc(s.series, func(l labels, _ *series) bool { return s.ofIngress[l.of()] == 0 })
}

// ordered returns the series of Ingresses that exist, sorted by their labels.
func (s *Store) ordered() []*series {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.forget()
	if s.sorted == nil {
		sorted := make([]*series, 0, len(s.series))
		for _, one := range s.series {
			sorted = append(sorted, one)
		}
		slices.SortFunc(sorted, func(a, b *series) int { return a.labels.compare(b.labels) })
		s.sorted = sorted
	}
	return s.sorted
}

// Gather returns the families of all metrics, sorted by name. It implements
// prometheus.Gatherer.
func (s *Store) Gather() ([]*dto.MetricFamily, error) {
	sorted := s.ordered()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []*dto.MetricFamily
	for _, f := range s.families {
		if printed := f.print(sorted); printed != nil {
			all = append(all, printed)
		}
	}
	return all, nil
}
