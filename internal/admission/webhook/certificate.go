package webhook

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// recheck is how often the files of a certificate are looked at while there are handshakes.
const recheck = 10 * time.Second

// Files is a certificate in two files of PEM. It is read again when they change.
type Files struct {
	certificate, key string
	log              *slog.Logger

	mutex   sync.Mutex
	held    *tls.Certificate
	failed  error
	checked time.Time
	written [2]time.Time
}

// Open reads the files. If it cannot, that is logged, and they are read again later: Ingresses are
// served without a webhook, too.
func Open(certificate, key string, log *slog.Logger) *Files {
	f := &Files{certificate: certificate, key: key, log: log}
	f.readAgain()
	return f
}

// Certificate returns the certificate. If the files have become unreadable, it is the former one.
func (f *Files) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if time.Since(f.checked) > recheck {
		f.readAgain()
	}
	if f.held == nil {
		return nil, f.failed
	}
	return f.held, nil
}

// Expires returns when the certificate expires, false if there is none.
func (f *Files) Expires() (time.Time, bool) {
	held, err := f.Certificate(nil)
	if err != nil {
		return time.Time{}, false
	}
	return held.Leaf.NotAfter, true
}

// readAgain reads the files, and logs another error than the last.
func (f *Files) readAgain() {
	f.checked = time.Now()
	err := f.read()
	if err != nil && (f.failed == nil || err.Error() != f.failed.Error()) {
		f.log.Warn("the admission webhook has no new certificate; trying again", "error", err)
	}
	f.failed = err
}

func (f *Files) read() error {
	var written [2]time.Time
	for i, path := range []string{f.certificate, f.key} {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("want files with a certificate and its key in PEM: %w", err)
		}
		written[i] = info.ModTime()
	}
	if f.held != nil && written == f.written {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(f.certificate, f.key)
	if err != nil {
		return fmt.Errorf("want a certificate and its key in PEM (got %s and %s): %w", f.certificate, f.key, err)
	}
	f.held, f.written = &pair, written
	return nil
}
