package ocsp

import (
	"slices"
	"time"
)

// The maximum number of concurrent questions: in total, and for the certificates of one
// namespace.
const (
	questions            = 32
	questionsOfNamespace = 4
)

// slots counts the running questions, by namespace.
type slots struct {
	all int
	of  map[string]int
}

func (s *slots) add(namespace string, by int) {
	s.all += by
	if s.of[namespace] += by; s.of[namespace] == 0 {
		delete(s.of, namespace)
	}
}

// nextDue returns the certificates to ask about now, and takes their slots: of those that are
// due, one of the namespace with the fewest questions, and of these the earliest, as long as
// there are slots. wait is the time until another one is due. The end of a question wakes Run
// for those without a slot.
func (s *Stapler) nextDue(now time.Time) (chosen []*certificate, wait time.Duration) {
	wait = latest
	var due []*certificate
	for _, c := range s.of {
		switch left := c.due.Sub(now); {
		case c.asking:
		case left > 0:
			wait = min(wait, left)
		default:
			due = append(due, c)
		}
	}
	if s.slots.all >= questions {
		return nil, wait
	}
	slices.SortFunc(due, func(a, b *certificate) int { return a.due.Compare(b.due) })
	for running := range questionsOfNamespace {
		for _, c := range due {
			if s.slots.all < questions && !c.asking && s.slots.of[c.Namespace] == running {
				c.asking = true
				s.slots.add(c.Namespace, 1)
				chosen = append(chosen, c)
			}
		}
	}
	return chosen, wait
}
