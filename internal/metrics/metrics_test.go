package metrics

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"sluice/internal/admission/webhook"
	"sluice/internal/metrics/requests"
	"sluice/internal/model"
	"sluice/internal/selfsigned"
)

func TestTakesGzip(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip": true, "br,gzip;q=0.5": true, "gzip; q=1": true, "gzip;q=0": false, "gzip;q=0.0": false, "identity": false, "x-gzip": false,
	} {
		if got := takesGzip(http.Header{"Accept-Encoding": {header}}); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}

// TestDisabled: without --enable-metrics, the metrics of Go and of the process are there.
func TestDisabled(t *testing.T) {
	t.Parallel()
	m := New(Options{Log: slog.New(slog.DiscardHandler)})
	m.Reviewed(webhook.Result{Judged: true})
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if text := answer.Body.String(); answer.Code != http.StatusOK || !strings.Contains(text, "\ngo_goroutines ") || strings.Contains(text, "nginx_ingress_controller") {
		t.Errorf("%d %s", answer.Code, text)
	}
}

// TestCertificates: each host has the certificate that it gets, and only the leader tells when it
// expires.
func TestCertificates(t *testing.T) {
	t.Parallel()
	made, err := selfsigned.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	of := *made
	of.Namespace, of.Name = "shop", "shop-tls"
	told := model.Dynamic{
		Certificates: []*model.Certificate{&of, {ID: "broken", Chain: []byte("x")}},
		Names:        []model.CertificateName{{Host: "", ID: of.ID}, {Host: "*.shop.example", ID: of.ID}, {Host: "broken.example", ID: "broken"}},
	}
	if of := factsOf(made.Chain); of.identifier != "-"+of.serial || of.serial == "" {
		t.Errorf("the identifier is %q and the serial number %q; want that of ingress-nginx, a - and the serial number", of.identifier, of.serial)
	}
	for leads, want := range map[bool]int{true: 4, false: 2} {
		c := newCertificates()
		found := testutil.CollectAndCount(collecting(func(to chan<- prometheus.Metric) { c.collect(to, told, "k8s.io/ingress-nginx", leads) }))
		if found != want {
			t.Errorf("leader %t: %d series, want %d", leads, found, want)
		}
	}
}

// TestLabelsOfCertificatesAreCut: the Secret of a tenant must not make scrapes long.
func TestLabelsOfCertificatesAreCut(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 10000)
	leaf := &x509.Certificate{SerialNumber: new(big.Int).Lsh(big.NewInt(1), 20000), NotAfter: time.Now().Add(time.Hour)}
	issuer := &x509.Certificate{Subject: pkix.Name{CommonName: long, Organization: []string{long, long}}}
	der, err := x509.CreateCertificate(rand.Reader, leaf, issuer, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	told := model.Dynamic{
		Certificates: []*model.Certificate{{ID: "a", Namespace: "shop", Name: "tls", Chain: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}},
		Names:        []model.CertificateName{{Host: "shop.example", ID: "a"}},
	}
	registry, c := prometheus.NewRegistry(), newCertificates()
	registry.MustRegister(collecting(func(to chan<- prometheus.Metric) { c.collect(to, told, "k8s.io/ingress-nginx", true) }))
	families, err := registry.Gather()
	if err != nil || len(families) != 2 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	for _, f := range families {
		for _, l := range f.Metric[0].Label {
			if n := len(l.GetValue()); n > requests.MostLabel || n == 0 {
				t.Errorf("%s: the label %s has %d bytes, want 1 to %d", f.GetName(), l.GetName(), n, requests.MostLabel)
			}
		}
	}
}

// collecting is a collector of a function.
type collecting func(chan<- prometheus.Metric)

func (c collecting) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, to) }
func (c collecting) Collect(to chan<- prometheus.Metric) { c(to) }

// TestReviewsAreBounded: names that are made up are not kept: those of rejected Ingresses at once, and
// of accepted ones if there are many.
func TestReviewsAreBounded(t *testing.T) {
	t.Parallel()
	const stored = 100
	r := newReviews(nil, func(_, name string) bool { return strings.HasPrefix(name, "stored") }, nil)
	for i := range stored {
		r.count(webhook.Result{Namespace: "shop", Name: fmt.Sprint("stored-", i), Allowed: i > 0})
	}
	const rejected = 3000
	for i := range rejected {
		r.count(webhook.Result{Namespace: "shop", Name: fmt.Sprint("rejected-", i)})
	}
	if n := r.counts[requests.Ingress{}]; len(r.counts) != stored+1 || n == nil || n.failed != rejected {
		t.Errorf("%d Ingresses, %v without a name", len(r.counts), n)
	}
	for i := range 10 * mostUnstored {
		r.count(webhook.Result{Namespace: "shop", Name: fmt.Sprint("accepted-", i), Allowed: true})
		if len(r.counts) > 2*(stored+1)+mostUnstored {
			t.Fatalf("%d Ingresses", len(r.counts))
		}
	}
	if r.counts[requests.Ingress{}] == nil || r.counts[requests.Ingress{Namespace: "shop", Name: "stored-0"}].failed != 1 {
		t.Error("a count is lost")
	}
}

// TestWebhookCertificate: there is a metric of its end, also while there is none.
func TestWebhookCertificate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		there bool
		want  float64
	}{{true, 1700000000}, {false, 0}} {
		r := newReviews(nil, nil, func() (time.Time, bool) { return time.Unix(1700000000, 0), c.there })
		found := make(chan prometheus.Metric, 1)
		r.Collect(found)
		var written dto.Metric
		if err := (<-found).Write(&written); err != nil || written.GetGauge().GetValue() != c.want {
			t.Errorf("it is %v, want %v (%v)", written.GetGauge().GetValue(), c.want, err)
		}
	}
}
