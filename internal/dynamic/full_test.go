package dynamic_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/dynamic"
	"sluice/internal/model"
)

// TestWhatHasNoRoomIsNamed: the client names backends and hosts while nginx has no room
// for them, and returns the use of the dictionaries.
func TestWhatHasNoRoomIsNamed(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i, Backends: "64k", Certificates: "64k"})
		large, small := certificate(t, "large.example"), certificate(t, "small.example")
		large.Chain = append(large.Chain, make([]byte, 100_000)...)
		huge := backend("shop/huge/80")
		for n := range 5000 {
			huge.Endpoints = append(huge.Endpoints, model.Endpoint{Address: "192.0.2.1", Port: 1 + n})
		}
		d := model.Dynamic{
			Backends:     []*model.Backend{backend("shop/front/80"), huge},
			Certificates: []*model.Certificate{large, small},
			Names:        []model.CertificateName{{Host: "large.example", ID: large.ID}, {Host: "small.example", ID: small.ID}},
		}
		if err := s.client.Push(t.Context(), d); err == nil {
			t.Error("want an error")
		}
		want := dynamic.Roomless{Backends: []string{"shop/huge/80"}, Hosts: []string{"large.example"}}
		if diff := cmp.Diff(want, s.client.Roomless()); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
		if m := s.client.Memory(); m.Certificates.Size != 64<<10 || m.Certificates.NearlyFull() {
			t.Errorf("the dictionaries are %+v", m)
		}
		d.Backends, d.Names = d.Backends[:1], []model.CertificateName{{Host: "large.example", ID: small.ID}, {Host: "small.example", ID: small.ID}}
		d.Certificates = d.Certificates[1:]
		check(t, s.client.Retain(t.Context(), d))
		if diff := cmp.Diff(dynamic.Roomless{}, s.client.Roomless()); diff != "" {
			t.Errorf("refused after it was mended:\n%s", diff)
		}
		var err error
		for n := 0; err == nil && !s.client.Memory().Certificates.NearlyFull(); n++ {
			more := certificate(t, fmt.Sprintf("%d.example", n))
			more.Chain = append(more.Chain, make([]byte, 6000)...)
			err = s.client.Push(t.Context(), model.Dynamic{Certificates: []*model.Certificate{more}})
		}
		check(t, err)
		status, err := s.client.Status(t.Context())
		check(t, err)
		if diff := cmp.Diff(s.client.Memory(), status.Memory); diff != "" {
			t.Errorf("the status tells another memory:\n%s", diff)
		}
	})
}

// TestAnEmptiedDictionaryIsFilledAgain: a reload with another size empties a
// dictionary. The next push then has to send all items.
func TestAnEmptiedDictionaryIsFilledAgain(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		check(t, s.client.Push(t.Context(), backends(backend("shop/front/80", backendServer(t, "front")))))
		s.inAllWorkers(t, "/", wantBody(200, "front"))
		s.Backends = "16m"
		s.writeConf(t)
		s.reload(t)
		s.await(t, "the new size", func() bool {
			status, err := s.client.Status(t.Context())
			return err == nil && status.Memory.Backends.Size == 16<<20 && len(status.Workers) == 2
		})
		check(t, s.client.Flush(t.Context()))
		s.inAllWorkers(t, "/", wantBody(200, "front"))
		check(t, s.client.Retain(t.Context(), backends()))
		before, err := s.client.Status(t.Context())
		check(t, err)
		s.reload(t)
		s.await(t, "another load", func() bool {
			status, err := s.client.Status(t.Context())
			return err == nil && status.Load > before.Load && len(status.Workers) == 2
		})
		after, err := s.client.Status(t.Context())
		check(t, err)
		if after.Boot != before.Boot {
			t.Error("a reload that keeps the dictionaries is taken for another nginx")
		}
	})
}
