package dynamic

import (
	"fmt"
	"slices"
	"testing"

	"sluice/internal/model"
)

// manyNames are those of a cluster with so many hosts with certificates.
func manyNames(count int) model.Dynamic {
	var d model.Dynamic
	for n := range count {
		id := fmt.Sprintf("%064x", n)
		d.Certificates = append(d.Certificates, &model.Certificate{ID: id})
		d.Names = append(d.Names, model.CertificateName{Host: fmt.Sprintf("host-%05d.shop.example", n), ID: id})
	}
	return d
}

// BenchmarkOneNameOfMany is the cost of a new certificate of one host while all other
// hosts keep theirs.
func BenchmarkOneNameOfMany(b *testing.B) {
	d := manyNames(10_000)
	l := newLedger()
	for n := 0; b.Loop(); n++ {
		d.Names = slices.Clone(d.Names)
		d.Names[5000].ID = fmt.Sprintf("%064x", n)
		if err := l.add(d); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOnlyNamesThatChangedAreSent: of many names, only one with another certificate is
// sent again, and one that returns after it was dropped.
func TestOnlyNamesThatChangedAreSent(t *testing.T) {
	t.Parallel()
	l, d := newLedger(), manyNames(100)
	unsent := func(want ...string) {
		t.Helper()
		got := l.names.unsent()
		if !slices.Equal(got, want) {
			t.Fatalf("unsent: %q, want %q", got, want)
		}
		l.names.confirm(got, nil)
	}
	add := func(d model.Dynamic) {
		t.Helper()
		if err := l.add(d); err != nil {
			t.Fatal(err)
		}
	}
	add(d)
	l.names.confirm(l.names.unsent(), nil)
	add(d)
	unsent()
	changed := d
	changed.Names = slices.Clone(d.Names)
	changed.Names[7].ID = "ff"
	add(changed)
	unsent(d.Names[7].Host)
	if text, err := l.names.encode(d.Names[7].Host); err != nil || string(text) != `{"host":"host-00007.shop.example","id":"ff"}` {
		t.Errorf("sent: %s, %v", text, err)
	}
	fewer := d
	fewer.Names = d.Names[1:]
	add(fewer)
	l.retain(fewer)
	unsent(d.Names[7].Host)
	add(d)
	unsent(d.Names[0].Host)
	if gone := l.names.dropped(); len(gone) > 0 {
		t.Errorf("dropped: %q", gone)
	}
	l.forget()
	add(d)
	if got := len(l.names.unsent()); got != 100 {
		t.Errorf("%d names are sent to another nginx", got)
	}
}
