package metrics

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/metrics/requests"
	"sluice/internal/model"
)

// The metrics of certificates have no labels of the controller, as in ingress-nginx.
var (
	expireTime = prometheus.NewDesc(requests.Prefix+"ssl_expire_time_seconds",
		"When the certificate of a host expires, in seconds since 1970. Only the leader has it.",
		[]string{"namespace", "class", "host", "secret_name", "identifier"}, nil)
	certificateInfo = prometheus.NewDesc(requests.Prefix+"ssl_certificate_info", "Always 1; the labels are facts about the certificate of a host.",
		[]string{"namespace", "class", "host", "secret_name", "identifier", "issuer_organization", "issuer_common_name", "serial_number", "public_key_algorithm"}, nil)
)

// facts are those of a certificate that its metrics need.
type facts struct {
	expires                                                   float64
	identifier, organization, issuer, serial, publicAlgorithm string
}

// certificates remembers facts by the ID of a certificate.
type certificates struct {
	mutex sync.Mutex
	known map[string]*facts
}

func newCertificates() *certificates { return &certificates{known: map[string]*facts{}} }

// collect sends the metrics of each host's certificate. The default certificate has the host
// "_".
func (c *certificates) collect(to chan<- prometheus.Metric, told model.Dynamic, class string, leads bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	known, byID := map[string]*facts{}, map[string]*model.Certificate{}
	for _, certificate := range told.Certificates {
		byID[certificate.ID] = certificate
		if of := c.known[certificate.ID]; of != nil {
			known[certificate.ID] = of
		} else if of := factsOf(certificate.Chain); of != nil {
			known[certificate.ID] = of
		}
	}
	c.known = known
	for _, name := range told.Names {
		certificate, of := byID[name.ID], known[name.ID]
		if certificate == nil || of == nil {
			continue
		}
		host := name.Host
		if host == "" {
			host = "_"
		}
		labels := []string{certificate.Namespace, class, host, certificate.Name, of.identifier}
		if leads {
			to <- prometheus.MustNewConstMetric(expireTime, prometheus.GaugeValue, of.expires, labels...)
		}
		to <- prometheus.MustNewConstMetric(certificateInfo, prometheus.GaugeValue, 1, append(labels, of.organization, of.issuer, of.serial, of.publicAlgorithm)...)
	}
}

// factsOf returns the facts of the first certificate of a chain, nil if there is none.
func factsOf(chain []byte) *facts {
	block, _ := pem.Decode(chain)
	if block == nil {
		return nil
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	text := func(s string) string { return requests.Label(strings.ToValidUTF8(s, "\uFFFD")) }
	serial := leaf.SerialNumber.String()
	return &facts{
		expires: float64(leaf.NotAfter.Unix()), serial: text(serial), identifier: text(leaf.Issuer.SerialNumber + "-" + serial),
		organization: text(strings.Join(leaf.Issuer.Organization, ",")), issuer: text(leaf.Issuer.CommonName),
		publicAlgorithm: leaf.PublicKeyAlgorithm.String(),
	}
}
