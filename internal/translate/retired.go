package translate

import (
	"reflect"
	"sync"

	"sluice/internal/assemble"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Renewer returns a function that returns a backend which Config no longer has, with the
// endpoints that its Service has in a snapshot: nginx may still use it. It is the same pointer
// if nothing changed, or if the Service or its port is missing.
func Renewer(s *snapshot.Snapshot, o Options) func(was *model.Backend) *model.Backend {
	t := sync.OnceValue(func() *translation {
		values, _ := settings.Read(s.ConfigMap(o.ConfigMap))
		return &translation{snap: s, options: o, settings: values}
	})
	return func(was *model.Backend) *model.Backend { return renewed(was, t) }
}

func renewed(was *model.Backend, t func() *translation) *model.Backend {
	target := was.Target
	if was.Split != nil || target.Host != "" {
		return was
	}
	id := assemble.BackendID{Service: snapshot.Name{Namespace: target.Namespace, Name: target.Name}, Port: target.Port}
	if id.Port == "" {
		id.Port = assemble.DefaultPort
	}
	now := &backend{Backend: &assemble.Backend{ID: id, Key: was.Key, Balancing: was.Balancing}, ringPoints: was.RingPoints}
	t().look(now)
	if was.Shortened && now.model != nil {
		now.model.Endpoints = now.model.Endpoints[:min(len(now.model.Endpoints), len(was.Endpoints))]
		now.model.Shortened, now.model.NoEndpoints = true, was.NoEndpoints
	}
	if now.fault != nil || reflect.DeepEqual(now.model, was) {
		return was
	}
	return now.model
}
