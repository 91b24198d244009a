package translate

import (
	"maps"
	"reflect"
	"slices"

	"sluice/internal/assemble"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Renewed returns a backend that Config no longer has, with the endpoints that its
// Service has in a snapshot: nginx may still use it. It is the same pointer if nothing
// changed, or if the Service or its port is missing.
func Renewed(was *model.Backend, s *snapshot.Snapshot, o Options) *model.Backend {
	target := was.Target
	if was.Split != nil || target.Host != "" {
		return was
	}
	id := assemble.BackendID{Service: snapshot.Name{Namespace: target.Namespace, Name: target.Name}, Port: target.Port}
	if id.Port == "" {
		id.Port = assemble.DefaultPort
	}
	now := &backend{Backend: &assemble.Backend{ID: id, Key: was.Key, Balancing: was.Balancing}, ringPoints: was.RingPoints}
	(&translation{snap: s, options: o}).look(now)
	if now.fault != nil || reflect.DeepEqual(now.model, was) {
		return was
	}
	return now.model
}

// Crowded returns the retired backends that have no room beside the wanted ones in a
// dictionary of a size in bytes. Each namespace has a fair share of the room that is left;
// of one with more, the first backends are crowded out.
func Crowded(wanted, retired []*model.Backend, size int64) []*model.Backend {
	cost := func(b *model.Backend) int64 { return backendCost(b, len(b.Endpoints)) }
	left, used := size/20*19, map[string]int64{}
	for _, b := range wanted {
		left -= cost(b)
	}
	for _, b := range retired {
		used[b.Target.Namespace] += cost(b)
	}
	share := assemble.FairShare(slices.Collect(maps.Values(used)), left)
	var crowded []*model.Backend
	for _, b := range retired {
		if used[b.Target.Namespace] > share {
			used[b.Target.Namespace] -= cost(b)
			crowded = append(crowded, b)
		}
	}
	return crowded
}
