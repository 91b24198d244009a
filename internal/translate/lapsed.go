package translate

import (
	"fmt"
	"slices"
	"time"

	"sluice/internal/model"
)

// Lapsed reports revocation lists whose next update is overdue, so that no client of their
// authority gets in.
func Lapsed(servers []*model.Server, o Options, now time.Time) []model.Problem {
	var problems []model.Problem
	for _, s := range servers {
		if s.TLS == nil || s.TLS.Clients == nil || s.TLS.Clients.Until == 0 {
			continue
		}
		until := time.Unix(s.TLS.Clients.Until, 0).UTC()
		if until.After(now) {
			continue
		}
		problem := model.Problem{Object: s.TLS.Clients.Source, Field: o.AnnotationsPrefix + "/auth-tls-secret", Reason: model.InvalidValue,
			Text: fmt.Sprintf("want a newer revocation list in %s of the Secret (got one that was to be replaced by %s): no certificate of its authority is accepted", revokedKey, until.Format(time.RFC3339))}
		if !slices.Contains(problems, problem) {
			problems = append(problems, problem)
		}
	}
	return problems
}
