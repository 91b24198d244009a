package geoip

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Fetch configures the download of databases that the folder lacks.
type Fetch struct {
	// Mirror is the URL of a folder with EDITION.tar.gz. Without one, LicenseKey is that of
	// an account of MaxMind. Without both, nothing is downloaded.
	Mirror, LicenseKey string
	// Tries is the most tries for each database, and Delay the time before the second one;
	// each further one waits half as long again. No Delay means one try.
	Tries int
	Delay time.Duration
}

// maxMind is where MaxMind serves its databases.
// Source: https://dev.maxmind.com/geoip/updating-databases
const maxMind = "https://download.maxmind.com/app/geoip_download"

// freshFor is how long a download counts: a controller that is started again and again must
// not use up the downloads of an account.
const freshFor = 24 * time.Hour

// fetchTime limits one download.
const fetchTime = 5 * time.Minute

// on reports whether there is a place to download from.
func (f Fetch) on() bool { return f.Mirror != "" || f.LicenseKey != "" }

// url returns the address of an edition.
func (f Fetch) url(edition string) string {
	if f.Mirror != "" {
		return strings.TrimSuffix(f.Mirror, "/") + "/" + edition + ".tar.gz"
	}
	return maxMind + "?" + url.Values{"license_key": {f.LicenseKey}, "edition_id": {edition}, "suffix": {"tar.gz"}}.Encode()
}

// download is the path of a downloaded database.
func (s *Source) download(edition string) string {
	return filepath.Join(s.Copies, "downloaded", edition+".mmdb")
}

// Fetch downloads the databases that the folder lacks, with retries. It returns when ctx
// ends, or when it has them or gives up.
func (s *Source) Fetch(ctx context.Context, f Fetch) {
	if !f.on() {
		return
	}
	client := &http.Client{Timeout: fetchTime, CheckRedirect: redirected}
	for _, edition := range s.Editions {
		if _, err := os.Stat(filepath.Join(s.Dir, edition+".mmdb")); err == nil {
			continue
		}
		if info, err := os.Stat(s.download(edition)); err == nil && time.Since(info.ModTime()) < freshFor {
			continue
		}
		if err := s.fetch(ctx, client, f, edition); err != nil && ctx.Err() == nil {
			s.Log.Warn("GeoIP database not downloaded", "edition", edition, "error", err.Error())
		}
	}
	select {
	case s.fetched <- struct{}{}:
	default: // a signal waits
	}
}

// redirected lets the client follow a redirect. The server that it names must not get the
// license key, which is in the URL of the first request.
func redirected(request *http.Request, via []*http.Request) error {
	request.Header.Del("Referer")
	switch {
	case len(via) >= 10:
		return errors.New("too many redirects")
	case via[0].URL.Scheme == "https" && request.URL.Scheme != "https":
		return errors.New("a redirect from https to " + request.URL.Scheme)
	}
	return nil
}

// fetch downloads one database.
func (s *Source) fetch(ctx context.Context, client *http.Client, f Fetch, edition string) error {
	delay := f.Delay
	for try := 1; ; try++ {
		err := s.once(ctx, client, f.url(edition), edition)
		if err == nil || try >= f.Tries || delay <= 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(delay):
		}
		delay += delay / 2
	}
}

// once downloads, unpacks and checks a database.
func (s *Source) once(ctx context.Context, client *http.Client, address, edition string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return withoutURL(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return withoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", response.Status)
	}
	target := s.download(edition)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	made, err := os.CreateTemp(filepath.Dir(target), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(made.Name())
	defer made.Close()
	if err := unpack(made, response.Body, edition+".mmdb"); err != nil {
		return err
	}
	if err := Check(made.Name(), edition); err != nil {
		return err
	}
	return os.Rename(made.Name(), target)
}

// withoutURL removes the address from an error, because it contains the license key.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// unpack writes the file with a name in an archive. The folders of the archive do not
// matter: no path in it is used.
func unpack(to io.Writer, archive io.Reader, name string) error {
	zipped, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("want an archive of tar and gzip: %w", err)
	}
	files := tar.NewReader(io.LimitReader(zipped, 2*mostBytes))
	for {
		header, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("the archive has no file %s", name)
		case err != nil:
			return fmt.Errorf("want an archive of tar and gzip: %w", err)
		case header.Typeflag != tar.TypeReg || path.Base(header.Name) != name:
			continue
		case header.Size > mostBytes:
			return fmt.Errorf("%s has more than %d MB", name, mostBytes>>20)
		}
		_, err = io.Copy(to, files)
		return err
	}
}
