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

// What another writer may do before an Ingress is left to it, and for how long.
const (
	contestWindow = 10 * time.Minute
	contestRest   = time.Hour
)

// contest is what is known of another writer of one status, which changes back
// what we write. Two of them would go on for ever; the second time we rest, and
// then try once an hour.
type contest struct {
	first  time.Time // when a status was last changed back for the first time
	rested bool      // we have rested: the next time we rest at once
	until  time.Time // we rest until then
	asked  bool      // it is known who the rival is
	rival  string    // the other writer, such as its field manager
	agreed time.Time // since when the status has been as wanted; zero if it is not
}

// changedBack takes note that another writer changed what we wrote.
func (c *contest) changedBack(now time.Time) {
	c.agreed = time.Time{}
	switch {
	case c.rested, !c.first.IsZero() && now.Sub(c.first) <= contestWindow:
		c.rested, c.until, c.asked = true, now.Add(contestRest), false
	default:
		c.first = now
	}
}

// agree takes note that the status is as wanted. When it has been so for a while
// the contest is over.
func (c *contest) agree(now time.Time) {
	if c.agreed.IsZero() {
		c.agreed = now
	}
	if c.rested && now.Sub(c.agreed) > contestWindow {
		*c = contest{agreed: c.agreed}
	}
}

// rests reports whether nothing is to be written now.
func (c *contest) rests(now time.Time) bool { return now.Before(c.until) }

// problem tells who the status is left to.
func (e *entry) problem() model.Problem {
	return model.Problem{
		Object: snapshot.IngressRef(e.served.Name),
		Field:  "status.loadBalancer.ingress",
		Reason: model.Conflict,
		Text: fmt.Sprintf("%s changes the status back each time it is written, so it is left as it is for an hour: want one controller that writes it "+
			"(the other one ended, or --update-status=false for this one)", e.contest.rival),
	}
}

// rivalOf gives the field manager that owns the status beside us, of those
// the one that wrote last.
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
