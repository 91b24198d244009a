package translate

import (
	"reflect"

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
	(&translation{snap: s, options: o, settings: scopeIn(s, o)}).look(now)
	if was.Shortened && now.model != nil {
		now.model.Endpoints = now.model.Endpoints[:min(len(now.model.Endpoints), len(was.Endpoints))]
		now.model.Shortened, now.model.NoEndpoints = true, was.NoEndpoints
	}
	if now.fault != nil || reflect.DeepEqual(now.model, was) {
		return was
	}
	return now.model
}
