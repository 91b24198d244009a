package controller

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
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
		if len(l.ingresses) != 1 || l.ingresses[web].Spec.Rules[0].Host != "two" || l.settings.Data["hsts"] != "false" {
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

// TestLastGoodStaysSmall: an Ingress that is edited all the time must not make
// the file grow without bound.
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
	if l = reopen(t, path); l.ingresses[web].Spec.Rules[0].Host != "host-19999.example" {
		t.Errorf("kept %v", l.ingresses[web])
	}
}

// TestLastGoodOnAFullDisk: what could not be written is written once there is
// room, and a line that was cut short takes no other with it.
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
	if len(l.ingresses) != 2 || l.ingresses[web].Spec.Rules[0].Host != "two" {
		t.Errorf("kept %v", l.ingresses)
	}
}

// TestSettingsThatWereDeletedAreNotGoneBackTo.
func TestSettingsThatWereDeletedAreNotGoneBackTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last-good.jsonl")
	l := reopen(t, path)
	record(t, l, snap(t), &corev1.ConfigMap{Data: map[string]string{"hsts": "false"}})
	record(t, l, snap(t), nil)
	if l.settings != nil || reopen(t, path).settings != nil {
		t.Error("settings that were deleted are kept as the last good ones")
	}
}

// TestClosedFormIsNoGoodForm: what is served of a refused Ingress with 503 is not
// taken for its last good form.
func TestClosedFormIsNoGoodForm(t *testing.T) {
	t.Parallel()
	l, err := openLastGood(t.TempDir() + "/last-good.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.record(snap(t, form("web", "good")), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.record(snap(t, form("web", "bad")), map[snapshot.Name]translate.Denial{web: translate.DenyPaths}, nil); err != nil {
		t.Fatal(err)
	}
	if got := l.ingresses[web].Spec.Rules[0].Host; got != "good" {
		t.Errorf("the last good form is %s", got)
	}
}
