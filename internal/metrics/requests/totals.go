package requests

import (
	"cmp"
	"slices"
)

// Total are all requests of an Ingress.
type Total struct {
	Ingress
	Requests uint64
	// ClientErrors have a status of 4xx, ServerErrors one of 5xx.
	ClientErrors, ServerErrors uint64
	// Cut are further requests, which are in no series.
	Cut uint64
	// Times are the numbers of requests in each bucket of the duration, and above the last; nil
	// if durations are not counted.
	Times []uint64
}

// Totals adds up the series of each Ingress, sorted by namespace and name. bounds are the
// upper bounds of the buckets of Times.
func (s *Store) Totals() (bounds []float64, all []Total) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.forget()
	of := make(map[Ingress]*Total, len(s.ofIngress))
	total := func(name Ingress) *Total {
		if of[name] == nil {
			of[name] = &Total{Ingress: name}
		}
		return of[name]
	}
	for _, one := range s.series {
		total(one.labels.of()).add(one)
	}
	for name, n := range s.cut {
		total(name).Cut = n
	}
	for _, t := range of {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b Total) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return s.options.Buckets.Time, all
}

func (t *Total) add(s *series) {
	n := uint64(s.requests)
	t.Requests += n
	switch {
	case s.labels.status == "":
	case s.labels.status[0] == '4':
		t.ClientErrors += n
	case s.labels.status[0] == '5':
		t.ServerErrors += n
	}
	times := s.distributions[request].buckets
	if t.Times == nil && times != nil {
		t.Times = make([]uint64, len(times))
	}
	for i, n := range times {
		t.Times[i] += n
	}
}
