package cluster

import (
	"context"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/snapshot"
)

var shopCert = snapshot.Name{Namespace: "shop", Name: "cert"}

// secretAt is a version of the Secret shop/cert, and told what metadata tells of
// it.
func secretAt(version int) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cert", ResourceVersion: strconv.Itoa(version)},
		Data:       map[string][]byte{"version": []byte(strconv.Itoa(version))},
	}
}

func told(version int) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cert", ResourceVersion: strconv.Itoa(version)}}
}

// reading gives Secrets of which one is being read, and holds what was read.
func reading() (r *readSecrets, begin func() bool) {
	r = newSecrets(New(Options{})).(*readSecrets)
	return r, func() bool { return len(r.mark([]snapshot.Name{shopCert})) == 1 }
}

// What metadata tells while a Secret is read is not lost: it is read again,
// unless what was read is that already.
func TestSecretThatChangesWhileItIsRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(t *testing.T, r *readSecrets)
		read      *corev1.Secret
		again     bool
	}{
		"nothing happens":                    {func(*testing.T, *readSecrets) {}, secretAt(2), false},
		"it changes after it was sent":       {func(t *testing.T, r *readSecrets) { must(t, r.Update(told(3))) }, secretAt(2), true},
		"what was read is told of":           {func(t *testing.T, r *readSecrets) { must(t, r.Update(told(2))) }, secretAt(2), false},
		"what was before is told of":         {func(t *testing.T, r *readSecrets) { must(t, r.Update(told(1))) }, secretAt(2), false},
		"it goes after it was sent":          {func(t *testing.T, r *readSecrets) { must(t, r.Delete(told(3))) }, secretAt(2), true},
		"it comes after it was looked for":   {func(t *testing.T, r *readSecrets) { must(t, r.Add(told(3))) }, nil, true},
		"another was deleted before":         {func(t *testing.T, r *readSecrets) { must(t, r.Delete(told(1))) }, secretAt(2), false},
		"a list has a newer one":             {func(t *testing.T, r *readSecrets) { must(t, r.Replace([]any{told(3)}, "3")) }, secretAt(2), true},
		"a list has it":                      {func(t *testing.T, r *readSecrets) { must(t, r.Replace([]any{told(2)}, "3")) }, secretAt(2), false},
		"a list does not have it any more":   {func(t *testing.T, r *readSecrets) { must(t, r.Replace(nil, "3")) }, secretAt(2), true},
		"a list has one that was looked for": {func(t *testing.T, r *readSecrets) { must(t, r.Replace([]any{told(3)}, "3")) }, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, begin := reading()
			if !begin() {
				t.Fatal("a Secret that is new is not read")
			}
			test.meanwhile(t, r)
			r.hold(shopCert, test.read)
			if again := begin(); again != test.again {
				t.Errorf("read again: %t, want %t", again, test.again)
			}
		})
	}
}

// After it was read, a Secret is read again when metadata tells of another
// version, and only then; it stays the same pointer if its content does.
func TestSecretIsReadAgainWhenItChanged(t *testing.T) {
	t.Parallel()
	r, begin := reading()
	begin()
	r.hold(shopCert, secretAt(2))
	before := r.all()[0]
	must(t, r.Replace([]any{told(2)}, "2"))
	must(t, r.Update(told(2)))
	must(t, r.Delete(told(1)))
	if begin() {
		t.Error("it is read again though it did not change")
	}
	must(t, r.Update(told(3)))
	if !begin() {
		t.Fatal("it is not read again")
	}
	relabelled := secretAt(2)
	relabelled.ResourceVersion = "3"
	r.hold(shopCert, relabelled)
	if r.all()[0] != before {
		t.Error("the same content is another pointer")
	}
	must(t, r.Delete(told(4)))
	if !begin() {
		t.Fatal("it is not looked for again when it was deleted")
	}
	r.hold(shopCert, nil)
	if len(r.all()) != 0 || begin() {
		t.Error("it is still there, or looked for all the time")
	}
	must(t, r.Replace(nil, "5"))
	if begin() {
		t.Error("it is looked for though no list has it")
	}
}

// A Secret that could not be read is tried again, after a while that grows, and
// what was read before stays.
func TestSecretThatCannotBeReadIsTriedAgain(t *testing.T) {
	t.Parallel()
	r, begin := reading()
	begin()
	r.hold(shopCert, secretAt(2))
	must(t, r.Update(told(3)))
	last := r.source.delay
	for range 8 {
		if !begin() {
			t.Fatal("it is not tried again")
		}
		r.unread(shopCert)
		r.source.tryAgain()
		if now := r.source.delay; now <= last && now != atMost {
			t.Errorf("the next attempt comes after %s, and that before after %s", now, last)
		}
		last = r.source.delay
	}
	if len(r.all()) != 1 || last != atMost {
		t.Errorf("%d Secrets, and %s between attempts", len(r.all()), last)
	}
	begin()
	r.hold(shopCert, secretAt(3))
	r.source.tryAgain()
	if r.source.delay != 0 || begin() {
		t.Error("it is tried again after it was read")
	}
}

// What nothing refers to any more is forgotten with what was wrong with it.
func TestSecretThatNothingRefersToIsForgotten(t *testing.T) {
	t.Parallel()
	r, begin := reading()
	begin()
	r.source.troubles.set("Secret shop/cert", context.DeadlineExceeded)
	r.hold(shopCert, secretAt(2))
	r.mark(nil)
	r.hold(shopCert, secretAt(3)) // that was under way
	if len(r.all()) != 0 || len(r.held) != 0 || len(r.source.troubles.all()) != 0 {
		t.Errorf("held %v, troubles %v", r.held, r.source.troubles.all())
	}
}
