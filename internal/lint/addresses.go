package lint

import (
	"slices"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// unassigned drops the Problems of Services without a cluster address. The API server
// gives one to each Service whose manifest has none.
func unassigned(problems []model.Problem, snap *snapshot.Snapshot) []model.Problem {
	return slices.DeleteFunc(problems, func(p model.Problem) bool {
		if p.Object.Kind != "Service" || p.Field != "spec.clusterIP" {
			return false
		}
		service := snap.Service(snapshot.Name{Namespace: p.Object.Namespace, Name: p.Object.Name})
		return service != nil && service.Spec.ClusterIP == ""
	})
}
