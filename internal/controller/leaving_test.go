package controller

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

func keys(d model.Dynamic) []string {
	var found []string
	for _, b := range d.Backends {
		found = append(found, b.Key)
	}
	for _, c := range d.Certificates {
		found = append(found, c.ID)
	}
	for _, n := range d.Names {
		found = append(found, n.Host+"="+n.ID)
	}
	return found
}

func backends(keys ...string) model.Dynamic {
	var d model.Dynamic
	for _, key := range keys {
		d.Backends = append(d.Backends, &model.Backend{Key: key})
	}
	return d
}

func TestWhatLeavesIsKeptWhileWorkersDrain(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	var l leaving
	l.note(backends(), backends("a", "b", "c"), start)
	l.note(backends("a", "b", "c"), backends("b"), start.Add(time.Minute))
	l.note(backends("b"), backends("d"), start.Add(2*time.Minute))

	kept, more := l.with(backends("d"), start)
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, keys(kept)); diff != "" || !more {
		t.Errorf("more %v, kept (-want +got):\n%s", more, diff)
	}
	kept, more = l.with(backends("d"), start.Add(90*time.Second))
	if diff := cmp.Diff([]string{"b", "d"}, keys(kept)); diff != "" || !more {
		t.Errorf("more %v, kept (-want +got):\n%s", more, diff)
	}
	kept, more = l.with(backends("d"), start.Add(time.Hour))
	if diff := cmp.Diff([]string{"d"}, keys(kept)); diff != "" || more {
		t.Errorf("more %v, kept (-want +got):\n%s", more, diff)
	}
}

func TestWhatCameBackCountsAsItIsNow(t *testing.T) {
	t.Parallel()
	names := func(host, id string) model.Dynamic {
		return model.Dynamic{Names: []model.CertificateName{{Host: host, ID: id}}, Certificates: []*model.Certificate{{ID: id}}}
	}
	start := time.Unix(1000, 0)
	var l leaving
	l.note(names("a", "old"), model.Dynamic{}, start)
	kept, _ := l.with(names("a", "new"), start)
	if diff := cmp.Diff([]string{"new", "old", "a=new"}, keys(kept)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
