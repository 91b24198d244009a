package geoip

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"sluice/internal/render"
)

// database returns a database that knows one network.
func database(t *testing.T, kind, country string) []byte {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: kind, Description: map[string]string{"en": "a test"}, IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, network, _ := net.ParseCIDR("192.0.2.0/24")
	if err := tree.Insert(network, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(country)}}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := tree.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// source is a Source of a new folder, and its log.
func source(t *testing.T, editions ...string) (*Source, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	return Open(Options{Dir: t.TempDir(), Copies: filepath.Join(t.TempDir(), "copies"), Editions: editions, Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A copy that fails, as on a full disk, is tried again.
func TestFailedCopyIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, log := source(t, "GeoLite2-City")
	write(t, filepath.Join(s.Dir, "GeoLite2-City.mmdb"), database(t, "GeoLite2-City", "NZ"))
	write(t, s.Copies, nil) // no folder
	if s.read() || len(s.Current()) > 0 {
		t.Fatalf("it is copied to no folder: %v", s.Current())
	}
	if err := os.Remove(s.Copies); err != nil {
		t.Fatal(err)
	}
	if !s.read() || len(s.Current()) != 1 {
		t.Errorf("the copy is not tried again: %v\n%s", s.Current(), log)
	}
}

// After a restart beside a file that is not valid, the copy of the run before is in force, and
// nothing that is not whole.
func TestCopyOfAnEarlierRunIsUsed(t *testing.T) {
	t.Parallel()
	s, log := source(t, "GeoLite2-City")
	file := filepath.Join(s.Dir, "GeoLite2-City.mmdb")
	write(t, file, database(t, "GeoLite2-City", "NZ"))
	s.read()
	good := s.Current()
	write(t, file, []byte("no database"))
	write(t, filepath.Join(s.Copies, ".new-1"), []byte("half of"))
	damaged := filepath.Join(s.Copies, "GeoLite2-City-0123456789abcdef.mmdb")
	write(t, damaged, database(t, "GeoLite2-City", "AQ"))
	again := Open(s.Options)
	if got := again.Current(); len(good) != 1 || !slices.Equal(got, good) || !strings.Contains(log.String(), "the last good one stays in use") {
		t.Errorf("got %v, want %v; log %s", got, good, log)
	}
	if left, _ := os.ReadDir(s.Copies); len(left) != 1 {
		t.Errorf("the folder keeps %v", left)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, file); err != nil { // nobody can read it
		t.Fatal(err)
	}
	if got := Open(s.Options).Current(); !slices.Equal(got, good) {
		t.Errorf("beside a file that cannot be read %v is in force, want %v", got, good)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := Open(s.Options).Current(); len(got) != 0 {
		t.Errorf("without a file %v is in force", got)
	}
}

// The server that a redirect names does not get the license key in the header Referer.
func TestRedirectDoesNotTellTheKey(t *testing.T) {
	t.Parallel()
	var referer atomic.Value
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { referer.Store(r.Referer()) }))
	defer elsewhere.Close()
	first := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/file", http.StatusFound))
	defer first.Close()
	s, _ := source(t, "GeoLite2-City")
	client := &http.Client{CheckRedirect: redirected}
	_ = s.once(t.Context(), client, first.URL+"/geoip_download?license_key=SECRET", "GeoLite2-City")
	if got := referer.Load(); got != "" {
		t.Errorf("the header Referer is %v", got)
	}
}

// A new file is read; one that is not valid is reported, and the last good one stays.
func TestLastGoodCopyStays(t *testing.T) {
	t.Parallel()
	s, log := source(t, "GeoLite2-City", "GeoLite2-ASN")
	if len(s.Current()) > 0 || s.read() {
		t.Errorf("databases without files: %v", s.Current())
	}
	file := filepath.Join(s.Dir, "GeoLite2-City.mmdb")
	good := database(t, "GeoLite2-City", "NZ")
	write(t, file, good)
	if !s.read() || len(s.Current()) != 1 || s.Current()[0].Edition != "GeoLite2-City" || s.Current()[0].Kind() != "City" {
		t.Fatalf("a new file is not read: %v\n%s", s.Current(), log)
	}
	first := s.Current()[0]
	if s.read() {
		t.Error("the same file is a change")
	}
	for name, bad := range map[string][]byte{"text": []byte("no database"), "half": good[:len(good)/2], "another type": append(database(t, "GeoLite2-Country", "NZ"), 0), "empty": {}} {
		write(t, file, bad)
		log.Reset()
		s.troubles = map[string]string{} // the same error is logged once
		if s.read() || s.Current()[0] != first || !strings.Contains(log.String(), "not valid") {
			t.Errorf("%s: %v, log %s", name, s.Current(), log)
		}
	}
	write(t, file, database(t, "GeoLite2-City", "Aotearoa"))
	if !s.read() || s.Current()[0].Path == first.Path {
		t.Errorf("a newer file is not read: %v", s.Current())
	}
	if _, err := os.Stat(first.Path); err != nil {
		t.Error("workers that drain lose their database")
	}
	os.Remove(file)
	if s.read() || len(s.Current()) != 1 {
		t.Error("a database is gone with its file")
	}
}

func TestOldCopiesAreRemoved(t *testing.T) {
	t.Parallel()
	s, _ := source(t, "GeoLite2-Country")
	var paths []string
	for _, country := range []string{"A", "BB", "CCC"} {
		write(t, filepath.Join(s.Dir, "GeoLite2-Country.mmdb"), database(t, "GeoLite2-Country", country))
		if !s.read() {
			t.Fatal("not read")
		}
		paths = append(paths, s.Current()[0].Path)
	}
	for i, want := range []bool{false, true, true} {
		if _, err := os.Stat(paths[i]); (err == nil) != want {
			t.Errorf("copy %d is there: %t", i, err == nil)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, edition := range Editions {
		if (render.Database{Edition: edition}).Kind() == "" {
			t.Errorf("%s has no kind", edition)
		}
	}
}

// archive returns a tar.gz of files.
func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	all := tar.NewWriter(zipped)
	for i := 0; i < len(files); i += 2 {
		if err := all.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		all.Write([]byte(files[i+1]))
	}
	all.Close()
	zipped.Close()
	return text.Bytes()
}

// A download is tried again, unpacked without the paths of the archive, and checked.
func TestFetch(t *testing.T) {
	t.Parallel()
	country := string(database(t, "GeoLite2-Country", "NZ"))
	bodies := map[string][]byte{
		"/GeoLite2-Country.tar.gz": archive(t, "../../../evil", "x", "GeoLite2-Country_20260101/../../GeoLite2-Country.mmdb", country),
		"/GeoLite2-City.tar.gz":    archive(t, "a/GeoLite2-City.mmdb", "no database"),
		"/GeoLite2-ASN.tar.gz":     archive(t, "a/other.mmdb", country),
		"/GeoIP2-ISP.tar.gz":       []byte("no archive"),
	}
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := bodies[r.URL.Path]
		if asked.Add(1) == 1 || body == nil {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		w.Write(body)
	}))
	defer server.Close()
	s, log := source(t, "GeoLite2-Country", "GeoLite2-City", "GeoLite2-ASN", "GeoIP2-ISP", "GeoIP2-City")
	s.Fetch(t.Context(), Fetch{Mirror: server.URL + "/", Tries: 3, Delay: time.Millisecond})
	if !s.read() || len(s.Current()) != 1 || s.Current()[0].Edition != "GeoLite2-Country" {
		t.Fatalf("got %v\n%s", s.Current(), log)
	}
	for _, want := range []string{"edition=GeoLite2-City error=\"want a database", "no file GeoLite2-ASN.mmdb", "edition=GeoIP2-ISP error=\"want an archive", "answers 503"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	if n := asked.Load(); n != 2+3*4 {
		t.Errorf("%d requests", n)
	}
	entries, _ := os.ReadDir(filepath.Join(s.Copies, "downloaded"))
	if len(entries) != 1 {
		t.Errorf("the folder has %v", entries)
	}
	s.Fetch(t.Context(), Fetch{Mirror: server.URL, Tries: 1})
	if n := asked.Load(); n != 2+3*4+4 {
		t.Errorf("a fresh download is repeated: %d requests", n)
	}
}

// The log never has the license key, which is in the address.
func TestKeyIsNotLogged(t *testing.T) {
	t.Parallel()
	f := Fetch{LicenseKey: "secret key"}
	if got := f.url("GeoLite2-City"); got != maxMind+"?edition_id=GeoLite2-City&license_key=secret+key&suffix=tar.gz" {
		t.Errorf("address %s", got)
	}
	s, _ := source(t)
	err := s.once(t.Context(), http.DefaultClient, "http://127.0.0.1:1/?license_key=secret", "GeoLite2-City")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if err := s.once(t.Context(), http.DefaultClient, "http://\x00/?license_key=secret", "GeoLite2-City"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}
