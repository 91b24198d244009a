package webhook

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// recheck is how often the files of a certificate are looked at while there are handshakes.
const recheck = 10 * time.Second

// Files is a certificate in two files of PEM. It is read again when they change.
type Files struct {
	certificate, key string

	mutex   sync.Mutex
	held    *tls.Certificate
	checked time.Time
	written [2]time.Time
}

// Open reads the files.
func Open(certificate, key string) (*Files, error) {
	f := &Files{certificate: certificate, key: key}
	if err := f.read(); err != nil {
		return nil, err
	}
	return f, nil
}

// Certificate returns the certificate. If the files have become unreadable, it is the former one.
func (f *Files) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if time.Since(f.checked) > recheck {
		_ = f.read()
	}
	return f.held, nil
}

func (f *Files) read() error {
	f.checked = time.Now()
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
