package dynamic_test

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/model"
)

// handshake returns the common name of the certificate that a client gets.
func (s *server) handshake(name string) (string, error) {
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: deadline},
		Config:    &tls.Config{ServerName: name, InsecureSkipVerify: true},
	}
	connection, err := dialer.Dial("unix", s.state+"/run/https.sock")
	if err != nil {
		return "", err
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName, nil
}

// shown sends many requests at once, so that very likely each worker answers.
func (s *server) shown(t *testing.T, name, want string) {
	t.Helper()
	for _, got := range crowd(func() string { return s.handshakeText(name) }) {
		if got != want {
			t.Fatalf("server name %q: want the certificate %q, got %s", name, want, got)
		}
	}
}

func (s *server) handshakeText(name string) string {
	got, err := s.handshake(name)
	if err != nil {
		return err.Error()
	}
	return got
}

// bound returns the names and certificates of a Dynamic: host, common name.
func bound(t *testing.T, pairs ...[2]string) model.Dynamic {
	t.Helper()
	var d model.Dynamic
	for _, pair := range pairs {
		c := certificate(t, pair[1])
		d.Certificates = append(d.Certificates, c)
		d.Names = append(d.Names, model.CertificateName{Host: pair[0], ID: c.ID})
	}
	return d
}

func TestCertificateIsChosenByServerName(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		check(t, s.client.Push(t.Context(), bound(t,
			[2]string{"", "default"}, [2]string{"shop.example", "precise"}, [2]string{"*.shop.example", "wildcard"}, [2]string{"www.shop.example", "www"})))
		for _, c := range [][2]string{
			{"shop.example", "precise"}, {"SHOP.Example", "precise"}, {"shop.example.", "precise"},
			{"www.shop.example", "www"}, {"api.shop.example", "wildcard"},
			{"a.b.shop.example", "default"}, {"example", "default"}, {"", "default"}, {"nobody.example", "default"},
		} {
			s.shown(t, c[0], c[1])
		}
	})
}

func TestPlaceholderIsNeverPresented(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		if got, err := s.handshake("shop.example"); err == nil {
			t.Errorf("nothing pushed: want the handshake to fail, was shown %q", got)
		}
		broken := bound(t, [2]string{"", "default"}, [2]string{"shop.example", "broken"})
		broken.Certificates[1].Key = []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
		check(t, s.client.Push(t.Context(), broken))
		s.shown(t, "other.example", "default")
		if got, err := s.handshake("shop.example"); err == nil {
			t.Errorf("a key that does not parse: want the handshake to fail, was shown %q", got)
		}
		s.await(t, "the failure in the log", func() bool {
			return strings.Contains(s.log.String(), "no certificate for shop.example")
		})
	})
}

func TestCertificateIsRotatedWithoutReload(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		for _, name := range []string{"first", "second", "third"} {
			d := bound(t, [2]string{"shop.example", name})
			check(t, s.client.Push(t.Context(), d))
			s.shown(t, "shop.example", name)
			check(t, s.client.Retain(t.Context(), d))
			s.shown(t, "shop.example", name)
		}
		status, err := s.client.Status(t.Context())
		check(t, err)
		if status.Load != 1 {
			t.Errorf("want no reload, got load %d", status.Load)
		}
	})
}

func TestNameKeepsItsCertificateIfTheNextHasNoRoom(t *testing.T) {
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i, Certificates: "64k"})
		check(t, s.client.Push(t.Context(), bound(t, [2]string{"shop.example", "first"})))
		next := bound(t, [2]string{"shop.example", "second"})
		next.Certificates[0].Chain = bytes.Repeat(next.Certificates[0].Chain, 200)
		err := s.client.Push(t.Context(), next)
		if err == nil || !strings.Contains(err.Error(), "no memory") || !strings.Contains(err.Error(), next.Certificates[0].ID) {
			t.Fatalf("want an error that names the certificate, got: %v", err)
		}
		if strings.Contains(err.Error(), "PRIVATE KEY") || strings.Contains(s.log.String(), "PRIVATE KEY") {
			t.Error("a key was printed")
		}
		s.shown(t, "shop.example", "first")
	})
}

func TestTwoThousandCertificates(t *testing.T) {
	const hosts = 2000
	everywhere(t, func(t *testing.T, i install) {
		s := start(t, &server{install: i})
		pairs := [][2]string{{"", "default"}}
		for n := range hosts {
			pairs = append(pairs, [2]string{fmt.Sprintf("host-%d.example", n), fmt.Sprintf("certificate-%d", n)})
		}
		d := bound(t, pairs...)
		began := time.Now()
		check(t, s.client.Push(t.Context(), d))
		t.Logf("%d certificates pushed in %s", len(d.Certificates), time.Since(began))
		began = time.Now()
		for n := range hosts {
			want := fmt.Sprintf("certificate-%d", n)
			if got, err := s.handshake(fmt.Sprintf("host-%d.example", n)); err != nil || got != want {
				t.Fatalf("want %q, got %q, %v", want, got, err)
			}
		}
		t.Logf("%d handshakes in %s", hosts, time.Since(began))
		keyIsNotOnDisk(t, s.state, d.Certificates[1])
	})
}

// keyIsNotOnDisk looks for a line of the key in all files of the state folder except
// the placeholder, which has the same key in tests.
func keyIsNotOnDisk(t *testing.T, state string, c *model.Certificate) {
	t.Helper()
	block, _ := pem.Decode(c.Key)
	wanted := [][]byte{bytes.Split(c.Key, []byte("\n"))[1], block.Bytes}
	seen := 0
	check(t, filepath.WalkDir(state, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), "placeholder.") {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		if slices.ContainsFunc(wanted, func(part []byte) bool { return bytes.Contains(text, part) }) {
			t.Errorf("%s holds a key", path)
		}
		return err
	}))
	if seen == 0 {
		t.Error("want some files to look at, found none")
	}
}
