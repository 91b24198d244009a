package debug

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sluice/internal/model"
)

// TestManyCertificates: the view of n certificates with a host each takes time by n, not by its
// square, which took 1.5 s for 20,000.
func TestManyCertificates(t *testing.T) {
	took := func(n int) time.Duration {
		s := stateOf(t, shopManifests)
		for i := range n {
			id := fmt.Sprintf("%064d", i) // no two differ before their end
			s.Told.Certificates = append(s.Told.Certificates, &model.Certificate{ID: id})
			s.Told.Names = append(s.Told.Names, model.CertificateName{Host: fmt.Sprintf("h%06d.example", i), ID: id})
		}
		handler := Handler(optionsOf(s))
		fastest := time.Hour
		for range 5 {
			began := time.Now()
			handler.ServeHTTP(discard{io.Discard, http.Header{}}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/certs", http.NoBody))
			fastest = min(fastest, time.Since(began))
		}
		return fastest
	}
	few, many := took(2000), took(32000)
	if many > 80*few {
		t.Errorf("2,000 certificates took %v, and 32,000 took %v: want some 16 times as long, and surely less than 80 times", few, many)
	}
}
