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
	steps := []struct {
		before, now model.Dynamic
		at          time.Time
	}{
		{backends(), backends("a", "b", "c"), start},
		{backends("a", "b", "c"), backends("b"), start.Add(time.Minute)},
		{backends("b"), backends("d"), start.Add(2 * time.Minute)},
	}
	for _, step := range steps {
		l.note(step.before, step.now)
		l.confirmed(step.at)
	}
	for _, c := range []struct {
		after time.Duration
		want  []string
	}{{2 * time.Minute, []string{"a", "b", "c", "d"}}, {4 * time.Minute, []string{"b", "d"}}, {time.Hour, []string{"d"}}} {
		kept := l.with(backends("d"), start.Add(c.after), 3*time.Minute)
		if diff := cmp.Diff(c.want, keys(kept)); diff != "" {
			t.Errorf("after %s kept (-want +got):\n%s", c.after, diff)
		}
	}
	if at, ok := l.due(time.Minute); ok {
		t.Errorf("something is left to be dropped at %s", at)
	}
}

// TestWhatTheRunningFileNeedsIsKept: a file that does without a backend was not
// taken for an hour; the running one still asks for it.
func TestWhatTheRunningFileNeedsIsKept(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	var l leaving
	l.note(backends("a", "b"), backends("b"))
	if _, ok := l.due(time.Minute); ok {
		t.Error("something is to be dropped before the file is confirmed")
	}
	if diff := cmp.Diff([]string{"a", "b"}, keys(l.with(backends("b"), start.Add(time.Hour), time.Minute))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	l.confirmed(start.Add(time.Hour))
	if diff := cmp.Diff([]string{"a", "b"}, keys(l.with(backends("b"), start.Add(time.Hour), time.Minute))); diff != "" {
		t.Errorf("kept while workers drain (-want +got):\n%s", diff)
	}
}

func TestWhatCameBackCountsAsItIsNow(t *testing.T) {
	t.Parallel()
	names := func(host, id string) model.Dynamic {
		return model.Dynamic{Names: []model.CertificateName{{Host: host, ID: id}}, Certificates: []*model.Certificate{{ID: id}}}
	}
	var l leaving
	l.note(names("a", "old"), model.Dynamic{})
	start := time.Unix(1000, 0)
	l.confirmed(start)
	kept := l.with(names("a", "new"), start, time.Hour)
	if diff := cmp.Diff([]string{"new", "old", "a=new"}, keys(kept)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if at, _ := l.due(time.Hour); !at.Equal(start.Add(handshakes)) {
		t.Errorf("the certificate is due at %s, want %s", at, start.Add(handshakes))
	}
	kept = l.with(names("a", "new"), start.Add(handshakes), time.Hour)
	if diff := cmp.Diff([]string{"new", "a=new"}, keys(kept)); diff != "" {
		t.Errorf("kept when no handshake is left (-want +got):\n%s", diff)
	}
}
