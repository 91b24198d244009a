package webhook

import (
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/selfsigned"
)

// TestFiles: a certificate that is missing comes later, a new one replaces the former, and one
// that is broken does not.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write := func() {
		t.Helper()
		made, err := selfsigned.Certificate(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		for path, content := range map[string][]byte{certificate: made.Chain, key: made.Key} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var log strings.Builder
	f := Open(certificate, key, slog.New(slog.NewTextHandler(&log, nil)))
	next := func() *tls.Certificate {
		f.checked, f.written = time.Time{}, [2]time.Time{}
		held, err := f.Certificate(nil)
		if (held == nil) == (err == nil) {
			t.Fatal(held, err)
		}
		return held
	}
	first := next()
	if again := next(); first != nil || again != nil || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("without files: %s", log.String())
	}
	write()
	if first = next(); first == nil {
		t.Fatal("no certificate")
	}
	if expires, ok := f.Expires(); !ok || !expires.Equal(first.Leaf.NotAfter) {
		t.Errorf("it expires at %v, %t", expires, ok)
	}
	write()
	second := next()
	if second == nil || string(second.Certificate[0]) == string(first.Certificate[0]) {
		t.Error("the new certificate is not taken")
	}
	if err := os.WriteFile(key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if next() != second || strings.Count(log.String(), "level=WARN") != 2 {
		t.Errorf("a broken key: %s", log.String())
	}
}
