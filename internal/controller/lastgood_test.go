package controller

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

func TestLastGoodOutlivesARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	settings := &corev1.ConfigMap{Data: map[string]string{"hsts": "false"}}
	record(t, l, snap(t, form("web", "one"), form("gone", "gone")), settings)
	record(t, l, snap(t, form("web", "two")), settings)
	appendTo(t, path, `{"ingress":{"metadata":{"name":"cut sh`)
	for range 2 {
		l = reopen(t, path)
		if len(l.ingresses) != 1 || l.ingresses[refOf(web)].Spec.Rules[0].Host != "two" || l.settings.Data["hsts"] != "false" {
			t.Errorf("kept %v and settings %v", l.ingresses, l.settings)
		}
	}
}

func TestLastGoodWritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	record(t, l, snap(t, form("web", "one")), nil)
	before := size(t, path)
	record(t, l, snap(t, form("web", "one")), nil)
	if after := size(t, path); after != before {
		t.Errorf("%d bytes written for nothing new", after-before)
	}
}

// The last form of each Ingress that was served and not denied is kept, however little
// is compared each time.
func TestLastGoodKeepsWhatWasServed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	l, want := reopen(t, filepath.Join(t.TempDir(), "last-good.jsonl")), map[model.ObjectRef]*networkingv1.Ingress{}
	forms := map[string]*networkingv1.Ingress{}
	for step := range 300 {
		name := fmt.Sprint("web-", random.IntN(8))
		if forms[name] = form(name, fmt.Sprint("host-", step)); random.IntN(3) == 0 {
			delete(forms, name)
		}
		served := snap(t, slices.Collect(maps.Values(forms))...)
		denied := map[model.ObjectRef]claim.Denial{}
		if random.IntN(3) == 0 {
			denied[refOf(snapshot.Name{Namespace: "shop", Name: fmt.Sprint("web-", random.IntN(8))})] = claim.DenyPaths
		}
		if err := l.record(served, denied, nil); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(want, func(o model.ObjectRef, _ *networkingv1.Ingress) bool { return served.Ingress(nameOf(o)) == nil })
		for _, ing := range served.Ingresses() {
			if object := snapshot.RefOf(ing); denied[object] == 0 {
				want[object] = ing
			}
		}
		if !maps.Equal(want, l.ingresses) {
			t.Fatalf("step %d: kept %v, want %v", step, l.ingresses, want)
		}
	}
}

func reopen(t *testing.T, path string) *lastGood {
	t.Helper()
	l, err := openLastGood(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func record(t *testing.T, l *lastGood, s *snapshot.Snapshot, settings *corev1.ConfigMap) {
	t.Helper()
	if err := l.record(s, nil, settings); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestLastGoodStaysSmall: frequent changes of an Ingress do not let the file grow
// without bound.
func TestLastGoodStaysSmall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	for i := range 20_000 {
		record(t, l, snap(t, form("web", fmt.Sprintf("host-%d.example", i))), nil)
	}
	if got := size(t, path); got > 2*journalSlack {
		t.Errorf("%d bytes for one Ingress", got)
	}
	if l = reopen(t, path); l.ingresses[refOf(web)].Spec.Rules[0].Host != "host-19999.example" {
		t.Errorf("kept %v", l.ingresses[refOf(web)])
	}
}

// TestLastGoodOnAFullDisk: unwritten lines are written once there is room, and an
// incomplete line does not damage others.
func TestLastGoodOnAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	record(t, l, snap(t, form("web", "one")), nil)
	kept := path + ".kept"
	if err := errors.Join(os.Rename(path, kept), os.Symlink("/dev/full", path)); err != nil {
		t.Fatal(err)
	}
	if err := l.record(snap(t, form("web", "two")), nil, nil); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("on a full disk: %v", err)
	}
	if err := os.Rename(kept, path); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, `{"ingress":{"metadata":{"name":"cut sh`)
	record(t, l, snap(t, form("web", "two"), form("more", "more")), nil)
	l = reopen(t, path)
	if len(l.ingresses) != 2 || l.ingresses[refOf(web)].Spec.Rules[0].Host != "two" {
		t.Errorf("kept %v", l.ingresses)
	}
}

func TestDeletedSettingsAreNotTheLastGoodOnes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	record(t, l, snap(t), &corev1.ConfigMap{Data: map[string]string{"hsts": "false"}})
	record(t, l, snap(t), nil)
	if l.settings != nil || reopen(t, path).settings != nil {
		t.Error("settings that were deleted are kept as the last good ones")
	}
}

// TestClosedFormIsNoGoodForm: a refused Ingress whose paths return 503 does not become
// the last good form.
func TestClosedFormIsNoGoodForm(t *testing.T) {
	t.Parallel()
	l, err := openLastGood(t.TempDir() + "/last-good.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.record(snap(t, form("web", "good")), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.record(snap(t, form("web", "bad")), map[model.ObjectRef]claim.Denial{refOf(web): claim.DenyPaths}, nil); err != nil {
		t.Fatal(err)
	}
	if got := l.ingresses[refOf(web)].Spec.Rules[0].Host; got != "good" {
		t.Errorf("the last good form is %s", got)
	}
}
