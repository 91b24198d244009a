package controller

import (
	"iter"
	"reflect"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/report"
)

// whatChanged names what differs between two plans, for people: hosts whose
// part of nginx.conf changed, services whose endpoints did, and hosts with
// another certificate. before is nil at first.
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

// byKey gives servers sorted by key, as nearly all of them are.
func byKey(servers []*model.Server) []*model.Server {
	order := func(a, b *model.Server) int { return strings.Compare(a.Key(), b.Key()) }
	if slices.IsSortedFunc(servers, order) {
		return servers
	}
	return slices.SortedFunc(slices.Values(servers), order)
}

// streamsByKey gives the streams of a plan sorted by key, in which 10000 comes
// before 9000.
func streamsByKey(p *plan) []*model.Stream {
	return slices.SortedFunc(each(p.config.Static.Streams), func(a, b *model.Stream) int { return strings.Compare(a.Key(), b.Key()) })
}

// passthroughs gives those of a plan, which are sorted by host.
func (p *plan) passthroughs() []*model.Passthrough {
	return slices.Collect(each(p.config.Static.Passthroughs))
}

// each gives pointers to the elements of a list.
func each[T any](list []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// difference are keys that came or changed, and keys that went.
type difference struct{ changed, gone []string }

// differing compares two lists that are sorted by key.
func differing[T comparable](before, now []T, key func(T) string, same func(a, b T) bool) difference {
	var d difference
	for _, element := range missing(before, now, key) {
		d.gone = append(d.gone, key(element))
	}
	for _, element := range now {
		for len(before) > 0 && before[0] != element && key(before[0]) < key(element) {
			before = before[1:]
		}
		if len(before) > 0 && before[0] == element {
			before = before[1:]
			continue
		}
		if len(before) == 0 || key(before[0]) != key(element) || !same(before[0], element) {
			d.changed = append(d.changed, key(element))
		}
	}
	return d
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
