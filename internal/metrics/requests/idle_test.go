package requests

import (
	"fmt"
	"testing"
	"time"
)

// TestIdleSeriesMakeRoom: an Ingress whose Service was renamed again and again is still counted,
// and what has requests stays.
func TestIdleSeriesMakeRoom(t *testing.T) {
	o := small
	o.MostOfIngress, o.Most = 20, 100
	s, now := New(o), time.Unix(1700000000, 0)
	s.now = func() time.Time { return now }
	count := func(service string) {
		s.Add(fmt.Appendf(nil, "0\n1\tshop.example shop/web/%s/80\t/\tGET\t200\t\t0.1\t1\t1\t\t\t", service))
	}
	for n := range 20 {
		count(fmt.Sprint("old", n))
	}
	count("new")
	if cut, _ := s.Cut(); cut[Ingress{"shop", "web"}] != 1 || s.Series() != 20 {
		t.Fatalf("%d series, cut %v: want the last one cut", s.Series(), cut)
	}
	now = now.Add(idleFor + time.Second)
	count("old7")
	count("new")
	if cut, _ := s.Cut(); cut[Ingress{"shop", "web"}] != 1 {
		t.Errorf("after an hour without requests: cut %v", cut)
	}
	left := map[string]bool{}
	for l := range s.series {
		left[l.service] = true
	}
	if !left["old7"] || !left["new"] || s.ofIngress[Ingress{"shop", "web"}] != s.Series() {
		t.Errorf("left are %v", left)
	}
}
