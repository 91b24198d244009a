package status

import (
	"bytes"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const (
	// contestWindow is the time in which a second change back makes us rest.
	contestWindow = 10 * time.Minute
	// contestRest is how long we then leave the status to the other writer.
	contestRest = time.Hour
)

// contest records that another writer changes one status back. Two such writers would
// never stop, so after the second change we rest, and then write once an hour.
type contest struct {
	first  time.Time // the first change back within the window
	rested bool      // we have rested: the next change makes us rest at once
	until  time.Time // we rest until then
	asked  bool      // rival is up to date
	rival  string    // the other writer, such as its field manager
	agreed time.Time // since when the status has been as wanted; zero if it is not
}

// changedBack records that another writer replaced our status.
func (c *contest) changedBack(now time.Time) {
	c.agreed = time.Time{}
	switch {
	case c.rested, !c.first.IsZero() && now.Sub(c.first) <= contestWindow:
		c.rested, c.until, c.asked = true, now.Add(contestRest), false
	default:
		c.first = now
	}
}

// agree records that the status is as wanted. After the window the contest is over.
func (c *contest) agree(now time.Time) {
	if c.agreed.IsZero() {
		c.agreed = now
	}
	if c.rested && now.Sub(c.agreed) > contestWindow {
		*c = contest{agreed: c.agreed}
	}
}

// rests reports whether we rest now.
func (c *contest) rests(now time.Time) bool { return now.Before(c.until) }

// problem reports the other writer.
func (e *entry) problem() model.Problem {
	return model.Problem{
		Object: snapshot.IngressRef(e.served.Name),
		Field:  "status.loadBalancer.ingress",
		Reason: model.Conflict,
		Text: fmt.Sprintf("%s changes the status back after each write, so Sluice stops writing it for an hour: want only one controller that writes it "+
			"(stop the other one, or give this one --update-status=false)", e.contest.rival),
	}
}

// rivalOf returns the other field manager that wrote the status last.
func rivalOf(ing *networkingv1.Ingress) string {
	var last *metav1.ManagedFieldsEntry
	for i := range ing.ManagedFields {
		m := &ing.ManagedFields[i]
		owns := m.FieldsV1 != nil && bytes.Contains(m.FieldsV1.Raw, []byte(`"f:loadBalancer"`))
		if m.Manager == FieldManager || !owns {
			continue
		}
		if last == nil || last.Time.Before(m.Time) {
			last = m
		}
	}
	if last == nil {
		return "another writer"
	}
	return fmt.Sprintf("field manager %q", last.Manager)
}
