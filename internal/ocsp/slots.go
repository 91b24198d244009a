package ocsp

import "time"

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

// nextDue returns the certificate to ask about, nil for none: of those that are due, one of
// the namespace with the fewest questions, and of these the earliest. wait is the time until
// another one is due. The end of a question wakes Run for those without a slot.
func (s *Stapler) nextDue(now time.Time) (first *certificate, wait time.Duration) {
	wait = latest
	for _, c := range s.of {
		if c.asking {
			continue
		}
		if left := c.due.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		running := s.slots.of[c.Namespace]
		if s.slots.all >= questions || running >= questionsOfNamespace {
			continue
		}
		if first == nil || running < s.slots.of[first.Namespace] || running == s.slots.of[first.Namespace] && c.due.Before(first.due) {
			first = c
		}
	}
	return first, wait
}
