package controller

import (
	"iter"
	"reflect"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/report"
)

// whatChanged names the differences between two plans, for people: hosts whose part of
// nginx.conf changed, services whose endpoints changed, and hosts with another
// certificate. before is nil for the first plan.
func whatChanged(before, now *plan) []report.Changes {
	if before == nil {
		before = &plan{templates: now.templates}
	}
	hosts := differingServers(before.config.Static.Servers, now.config.Static.Servers)
	backends := differing(before.config.Dynamic.Backends, now.config.Dynamic.Backends,
		func(b *model.Backend) string { return b.Key }, sameBackend)
	names := differing(before.config.Dynamic.Names, now.config.Dynamic.Names,
		func(n model.CertificateName) string { return n.Host }, func(a, b model.CertificateName) bool { return a == b })
	streams := differing(streamsByKey(before), streamsByKey(now), (*model.Stream).Key, func(a, b *model.Stream) bool { return reflect.DeepEqual(a, b) })
	passed := differing(before.passthroughs(), now.passthroughs(),
		func(p *model.Passthrough) string { return p.Host }, func(a, b *model.Passthrough) bool { return reflect.DeepEqual(a, b) })
	changes := []report.Changes{{Kind: "hosts", Names: named(hosts.changed)}, {Kind: "hostsGone", Names: named(hosts.gone)},
		{Kind: "services", Names: backends.changed}, {Kind: "servicesGone", Names: backends.gone},
		{Kind: "certificates", Names: named(names.changed)}, {Kind: "certificatesGone", Names: named(names.gone)},
		{Kind: "streams", Names: streams.changed}, {Kind: "streamsGone", Names: streams.gone},
		{Kind: "passedThrough", Names: passed.changed}, {Kind: "passedThroughGone", Names: passed.gone}}
	var whole []string
	if before.templates != now.templates {
		whole = append(whole, "templates")
	}
	if was, is := before.configMap, now.configMap; was != is && (was == nil || is == nil || !sameSettings(was, is)) {
		whole = append(whole, "settings")
	}
	return append(changes, report.Changes{Kind: "everywhere", Names: whole})
}

func differingServers(before, now []*model.Server) difference {
	if slices.Equal(before, now) {
		return difference{}
	}
	return differing(byKey(before), byKey(now), (*model.Server).Key, func(a, b *model.Server) bool { return a == b })
}

// byKey returns servers sorted by key. Nearly all of them are sorted already.
func byKey(servers []*model.Server) []*model.Server {
	if slices.IsSortedFunc(servers, by((*model.Server).Key)) {
		return servers
	}
	return slices.SortedFunc(slices.Values(servers), by((*model.Server).Key))
}

// streamsByKey returns the streams of a plan sorted by key, in which 10000 comes before
// 9000.
func streamsByKey(p *plan) []*model.Stream {
	return slices.SortedFunc(each(p.config.Static.Streams), by((*model.Stream).Key))
}

// passthroughs returns the hosts that a plan passes through, sorted by host.
func (p *plan) passthroughs() []*model.Passthrough {
	return slices.Collect(each(p.config.Static.Passthroughs))
}

// each yields pointers to the elements of a list.
func each[T any](list []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// difference holds the keys that are new or changed, and those that are gone.
type difference struct{ changed, gone []string }

// differing compares two lists that are sorted by key.
func differing[T comparable](before, now []T, key func(T) string, same func(a, b T) bool) difference {
	var none T
	var d difference
	for was, is := range paired(before, now, by(key)) {
		switch {
		case is == none:
			d.gone = append(d.gone, key(was))
		case was == none, was != is && !same(was, is):
			d.changed = append(d.changed, key(is))
		}
	}
	return d
}

// by orders elements by a key.
func by[T any](key func(T) string) func(a, b T) int {
	return func(a, b T) int { return strings.Compare(key(a), key(b)) }
}

// paired walks two lists in the same order. It yields elements that are equal in that
// order together, and a zero value for an element that a list lacks.
func paired[T comparable](before, now []T, order func(a, b T) int) iter.Seq2[T, T] {
	return func(yield func(was, is T) bool) {
		for len(before)+len(now) > 0 {
			var was, is T
			first := 0
			switch {
			case len(before) == 0:
				first = 1
			case len(now) == 0:
				first = -1
			case before[0] != now[0]:
				first = order(before[0], now[0])
			}
			if first <= 0 {
				was, before = before[0], before[1:]
			}
			if first >= 0 {
				is, now = now[0], now[1:]
			}
			if !yield(was, is) {
				return
			}
		}
	}
}

// sameBackend reports whether two backends of one key have the same endpoints.
func sameBackend(a, b *model.Backend) bool {
	return a == b || (slices.Equal(a.Endpoints, b.Endpoints) && a.ExternalName == b.ExternalName && a.ExternalPort == b.ExternalPort)
}

// named gives the catch-all, whose host is "", a name.
func named(hosts []string) []string {
	for i, host := range hosts {
		if host == "" {
			hosts[i] = "(all others)"
		}
	}
	return hosts
}
