package ocsp

import (
	"bytes"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ocsp"

	"sluice/internal/model"
)

// TestRenewed: a response is asked for at once, renewed after half of its time, at the latest
// after a day, and each new one is signalled.
func TestRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		c, valid := ca.issue(t, "shop", 7), 4*time.Hour
		n := &network{answer: func(_ string, request []byte) *http.Response {
			asked, err := ocsp.ParseRequest(request)
			if err != nil || asked.SerialNumber.Int64() != 7 {
				t.Errorf("the request is about %v: %v", asked, err)
			}
			return body(200, ca.respond(t, ca, good(7, valid)))
		}}
		s, d := n.run(t), using(c)
		wantStaples(t, "before a question", s.Apply(d))
		s.Use(d)
		time.Sleep(time.Second)
		if !signalled(s) || n.count() != 1 {
			t.Fatalf("%d questions, want one with a signal", n.count())
		}
		got := s.Apply(d)
		wantStaples(t, "after the first question", got, "shop7")
		if left := time.Until(time.Unix(got.Staples[0].Until, 0)); left < valid-time.Minute || left > valid {
			t.Errorf("the staple is valid for %s, want some %s", left, valid)
		}
		valid = 30 * 24 * time.Hour
		time.Sleep(2*time.Hour - 10*time.Second)
		if signalled(s) || n.count() != 1 {
			t.Errorf("%d questions before half of the time", n.count())
		}
		time.Sleep(20 * time.Second)
		if !signalled(s) || n.count() != 2 {
			t.Errorf("%d questions after half of the time, want 2", n.count())
		}
		time.Sleep(24*time.Hour + time.Second)
		if n.count() != 3 {
			t.Errorf("%d questions after another day, want 3", n.count())
		}
		s.Use(model.Dynamic{Stapling: true})
		time.Sleep(100 * time.Hour)
		if n.count() != 3 || len(s.Apply(model.Dynamic{Stapling: true}).Staples) > 0 {
			t.Error("a certificate that is not in use is asked about, or stapled")
		}
	})
}

// TestWithoutAnAnswer: an old response stays until it expires. Questions become rarer. The
// owner has a Problem only while there is no valid response.
func TestWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		c := ca.issue(t, "shop", 7)
		var works atomic.Bool
		works.Store(true)
		n := &network{}
		n.answer = func(string, []byte) *http.Response {
			if works.Load() {
				return body(200, ca.respond(t, ca, good(7, time.Hour)))
			}
			return body(http.StatusServiceUnavailable, nil)
		}
		s, d := n.run(t), using(c)
		s.Use(d)
		time.Sleep(time.Second)
		works.Store(false)
		time.Sleep(50 * time.Minute)
		wantStaples(t, "while it is valid", s.Apply(d), "shop7")
		if troubles := s.Troubles(); len(troubles) > 0 {
			t.Errorf("troubles %v beside a valid response", troubles)
		}
		signalled(s)
		time.Sleep(10 * time.Minute)
		wantStaples(t, "after it expired", s.Apply(d))
		want := []Trouble{{"shop", "shop", "the responder answers with status 503"}}
		if troubles := s.Troubles(); !signalled(s) || !slices.Equal(troubles, want) {
			t.Errorf("troubles %v, want %v with a signal", troubles, want)
		}
		before := n.count()
		time.Sleep(24 * time.Hour)
		if asked := n.count() - before; asked < 20 || asked > 30 {
			t.Errorf("%d questions in a day of failures, want one in an hour", asked)
		}
		works.Store(true)
		time.Sleep(longestRetry + time.Second)
		wantStaples(t, "when it works again", s.Apply(d), "shop7")
		if troubles := s.Troubles(); len(troubles) > 0 {
			t.Errorf("troubles %v after an answer", troubles)
		}
	})
}

// TestRefused asks for each answer that must not be stapled.
func TestRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca, other := newAuthority(t), newAuthority(t)
		delegate := ca.sign(t, &x509.Certificate{SerialNumber: big.NewInt(2), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}})
		web := ca.sign(t, &x509.Certificate{SerialNumber: big.NewInt(3), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		foreign := other.sign(t, &x509.Certificate{SerialNumber: big.NewInt(2), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}})
		with := func(change func(*ocsp.Response)) ocsp.Response {
			r := good(7, time.Hour)
			change(&r)
			return r
		}
		moved := body(http.StatusFound, nil)
		moved.Header.Set("Location", "http://elsewhere.example/")
		for _, c := range []struct {
			answer *http.Response
			change func(*model.Certificate)
			want   string
		}{
			{answer: body(200, ca.respond(t, ca, good(7, time.Hour)))},
			{answer: body(200, ca.respond(t, delegate, good(7, time.Hour)))},
			{answer: body(200, ca.respond(t, ca, with(func(r *ocsp.Response) { r.NextUpdate = time.Time{} })))},
			{answer: body(200, ca.respond(t, web, good(7, time.Hour))), want: "is signed neither by the issuer"},
			{answer: body(200, ca.respond(t, foreign, good(7, time.Hour))), want: "is signed neither by the issuer"},
			{answer: body(200, other.respond(t, other, good(7, time.Hour))), want: "is signed neither by the issuer"},
			{answer: body(200, ca.respond(t, ca, good(8, time.Hour))), want: "is not one for the certificate"},
			{answer: body(200, []byte("no response")), want: "is not one for the certificate"},
			{answer: body(200, ocsp.TryLaterErrorResponse), want: "is not one for the certificate"},
			{answer: body(200, ca.respond(t, ca, good(7, -time.Second))), want: "has expired"},
			{answer: body(200, ca.respond(t, ca, with(func(r *ocsp.Response) { r.ThisUpdate = time.Now().Add(10 * time.Minute) }))), want: "is not valid yet"},
			{answer: body(200, ca.respond(t, ca, with(func(r *ocsp.Response) { r.Status, r.RevokedAt = ocsp.Revoked, time.Now() }))), want: "is revoked"},
			{answer: body(200, ca.respond(t, ca, with(func(r *ocsp.Response) { r.Status = ocsp.Unknown }))), want: "does not know"},
			{answer: body(200, make([]byte, model.LongestStaple+1)), want: "want a response of at most"},
			{answer: moved, want: "answers with status 302"},
			{answer: nil, want: "does not answer within 10s"},
			{change: func(c *model.Certificate) { c.Chain = c.Chain[:bytes.LastIndex(c.Chain, []byte("-----BEGIN"))] }, want: "lacks the certificate of the issuer"},
			{change: func(c *model.Certificate) { c.Responder = "https://responder.example/" }, want: "want a responder with a URL of http://"},
			{change: func(c *model.Certificate) { c.Responder = "http://user:password@responder.example/" }, want: "want a responder with a URL of http://"},
			{change: func(c *model.Certificate) { c.Responder = "http://a/" + strings.Repeat("x", longestURL) }, want: "want a responder with a URL of http://"},
		} {
			n := &network{answer: func(string, []byte) *http.Response { return c.answer }}
			s := New(Options{Dial: n.dial, Logger: slog.New(slog.DiscardHandler)})
			certificate := ca.issue(t, "shop", 7)
			if c.change != nil {
				c.change(certificate)
			}
			got, fault := s.ask(t.Context(), certificate)
			if (c.want == "") != (fault == "") || !strings.Contains(fault, c.want) || (c.want == "") != (got.response != nil) {
				t.Errorf("got a response of %d bytes and %q, want %q", len(got.response), fault, c.want)
			}
			if most := map[bool]int{true: 0, false: 1}[c.change != nil]; n.count() > most {
				t.Errorf("%q: %d questions, want %d", c.want, n.count(), most)
			}
		}
	})
}

// TestRevoked: the last good response of a revoked certificate is not stapled any more.
func TestRevoked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		var isRevoked atomic.Bool
		n := &network{}
		n.answer = func(string, []byte) *http.Response {
			r := good(7, 10*time.Hour)
			if isRevoked.Load() {
				r.Status, r.RevokedAt = ocsp.Revoked, time.Now()
			}
			return body(200, ca.respond(t, ca, r))
		}
		s, d := n.run(t), using(ca.issue(t, "shop", 7))
		s.Use(d)
		time.Sleep(time.Second)
		wantStaples(t, "at first", s.Apply(d), "shop7")
		isRevoked.Store(true)
		time.Sleep(5*time.Hour + time.Minute)
		wantStaples(t, "once it is revoked", s.Apply(d))
		if troubles := s.Troubles(); len(troubles) != 1 || troubles[0].Text != revoked {
			t.Errorf("troubles %v", troubles)
		}
	})
}

// TestNamespacesShare: responders of one namespace that hang delay no other namespace.
func TestNamespacesShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		n := &network{answer: func(host string, _ []byte) *http.Response {
			if strings.HasPrefix(host, "slow.") {
				return nil
			}
			return body(200, ca.respond(t, ca, good(7, time.Hour)))
		}}
		var all []*model.Certificate
		for serial := range int64(100) {
			all = append(all, ca.issue(t, "slow", serial+1))
		}
		all = append(all, ca.issue(t, "shop", 7))
		s, d := n.run(t), using(all...)
		s.Use(d)
		time.Sleep(time.Second)
		wantStaples(t, "after a second", s.Apply(d), "shop7")
		if n.count() != 1+questionsOfNamespace {
			t.Errorf("%d questions at once, want %d for the slow namespace", n.count()-1, questionsOfNamespace)
		}
	})
}

// TestUnused: nothing is asked without the setting, and not about certificates that only
// backends see.
func TestUnused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := newAuthority(t)
		n := &network{answer: func(string, []byte) *http.Response { return nil }}
		off, unnamed := using(ca.issue(t, "shop", 7)), using(ca.issue(t, "shop", 8))
		off.Stapling, unnamed.Names = false, nil
		without := ca.issue(t, "shop", 9)
		without.Responder = ""
		for _, d := range []model.Dynamic{off, unnamed, using(without)} {
			s := n.run(t)
			s.Use(d)
			time.Sleep(time.Hour)
		}
		if n.count() > 0 {
			t.Errorf("%d questions", n.count())
		}
	})
}

// TestForbiddenAddresses: a certificate cannot make Sluice connect to this machine, whatever
// the name of the responder.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	connected := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { signal(connected) }))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	ca := newAuthority(t)
	s := New(Options{Logger: slog.New(slog.DiscardHandler)})
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "169.254.169.254", "[fd00:ec2::254]", "0.0.0.0", "[::1]"} {
		c := ca.issue(t, "shop", 7)
		c.Responder = "http://" + host + ":" + port + "/"
		if _, fault := s.ask(t.Context(), c); !strings.Contains(fault, "is at an address where Sluice asks nobody") {
			t.Errorf("%s: %q", host, fault)
		}
	}
	if len(connected) > 0 {
		t.Error("a forbidden address was asked")
	}
}
