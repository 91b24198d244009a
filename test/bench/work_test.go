package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/test/bench/measure"
)

// unit writes one Ingress, its Service, and an EndpointSlice for each port of
// loopback: a slice has one port for all of its endpoints, and all endpoints are
// on one address here.
func unit(i int, ports ...int) []byte {
	var slices []measure.Slice
	for _, port := range ports {
		slices = append(slices, measure.Slice{Port: port, Addresses: []string{measure.Loopback}})
	}
	return measure.Unit(i, slices...)
}

// oneFile joins the units of n Ingresses.
func oneFile(n int, ports ...int) []byte {
	var out bytes.Buffer
	for i := range n {
		out.WriteString("---\n")
		out.Write(unit(i, ports...))
	}
	return out.Bytes()
}

// folder is a directory of manifests, with a place beside it where files are
// written before they are renamed in.
type folder struct {
	path, beside string
}

func newFolder(b *testing.B) folder {
	b.Helper()
	dir := b.TempDir()
	f := folder{path: filepath.Join(dir, "manifests"), beside: filepath.Join(dir, "beside")}
	for _, path := range []string{f.path, f.beside} {
		if err := os.Mkdir(path, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	return f
}

// fill writes one file for each Ingress.
func (f folder) fill(b *testing.B, n int, ports ...int) {
	b.Helper()
	f.fillWith(b, n, unit, ports...)
}

// fillWith writes one file for each Ingress, as unit says.
func (f folder) fillWith(b *testing.B, n int, unit func(i int, ports ...int) []byte, ports ...int) {
	b.Helper()
	for i := range n {
		if err := os.WriteFile(filepath.Join(f.path, fileName(i)), unit(i, ports...), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func fileName(i int) string { return fmt.Sprintf("shop-%d.yaml", i) }

// put renames a file into place, as editors and deployments do.
func (f folder) put(b *testing.B, name string, content []byte) {
	b.Helper()
	beside := filepath.Join(f.beside, name)
	if err := os.WriteFile(beside, content, 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(beside, filepath.Join(f.path, name)); err != nil {
		b.Fatal(err)
	}
}

// replace is put, and says when.
func (f folder) replace(b *testing.B, name string, content []byte) time.Time {
	b.Helper()
	f.put(b, name, content)
	return time.Now()
}

// clear removes all files.
func (f folder) clear(b *testing.B) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(f.path, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
}
