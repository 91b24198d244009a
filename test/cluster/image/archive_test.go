//go:build image

package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// archive is an OCI archive that was read, with each digest in it checked.
type archive struct {
	index    index
	manifest manifest
	config   config
	layers   [][]byte // not compressed
	old      []oldManifest
	// packed is the size of the archive.
	packed int64
}

type descriptor struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType"`
	Digest       string            `json:"digest"`
	Size         int64             `json:"size"`
	Annotations  map[string]string `json:"annotations"`
	Platform     struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

type index struct {
	Manifests []descriptor `json:"manifests"`
}

type manifest struct {
	Config      descriptor        `json:"config"`
	Layers      []descriptor      `json:"layers"`
	Annotations map[string]string `json:"annotations"`
}

type config struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Config       struct {
		User, StopSignal, WorkingDir string
		Env, Entrypoint, Cmd         []string
		Labels                       map[string]string
		ExposedPorts                 map[string]struct{}
	} `json:"config"`
	RootFS struct {
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// oldManifest is what docker read before it knew OCI archives.
type oldManifest struct {
	Config           string
	RepoTags, Layers []string
}

// variable gives what the environment has to say.
func variable(t testing.TB, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: these tests are run by `make test-image`", name)
	}
	return value
}

// openArchive reads the archive that a variable names.
func openArchive(t testing.TB, name string) *archive {
	t.Helper()
	a, err := readArchive(variable(t, name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return a
}

func readArchive(path string) (*archive, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for entries := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if files[header.Name], err = io.ReadAll(entries); err != nil {
			return nil, err
		}
	}
	a := &archive{packed: int64(len(content))}
	if layout := string(files["oci-layout"]); !strings.Contains(layout, `"imageLayoutVersion": "1.0.0"`) {
		return nil, fmt.Errorf("oci-layout says %q", layout)
	}
	if err := errors.Join(json.Unmarshal(files["index.json"], &a.index), json.Unmarshal(files["manifest.json"], &a.old)); err != nil {
		return nil, err
	}
	if len(a.index.Manifests) != 1 {
		return nil, fmt.Errorf("%d images, want one", len(a.index.Manifests))
	}
	return a, a.follow(files)
}

// follow reads what the index leads to.
func (a *archive) follow(files map[string][]byte) error {
	if err := decode(files, a.index.Manifests[0], &a.manifest); err != nil {
		return err
	}
	if err := decode(files, a.manifest.Config, &a.config); err != nil {
		return err
	}
	if len(a.manifest.Layers) != len(a.config.RootFS.DiffIDs) {
		return fmt.Errorf("%d layers, and %d ids of layers", len(a.manifest.Layers), len(a.config.RootFS.DiffIDs))
	}
	for i, d := range a.manifest.Layers {
		packed, err := blob(files, d)
		if err != nil {
			return err
		}
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return err
		}
		layer, err := io.ReadAll(reader)
		if err != nil {
			return err
		}
		if got := digest(layer); got != a.config.RootFS.DiffIDs[i] {
			return fmt.Errorf("layer %d is %s, want %s", i, got, a.config.RootFS.DiffIDs[i])
		}
		a.layers = append(a.layers, layer)
	}
	return nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// blob gives what a descriptor is of.
func blob(files map[string][]byte, d descriptor) ([]byte, error) {
	content, there := files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)]
	if !there || digest(content) != d.Digest || int64(len(content)) != d.Size {
		return nil, fmt.Errorf("the blob %s of %d bytes is not there: got %s of %d", d.Digest, d.Size, digest(content), len(content))
	}
	return content, nil
}

func decode(files map[string][]byte, d descriptor, into any) error {
	content, err := blob(files, d)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// unpack applies the layers in a folder, and gives what each name is in the end.
// Where not root, everything belongs to who unpacks it.
func (a *archive) unpack(folder string) (map[string]*tar.Header, error) {
	found := map[string]*tar.Header{}
	for i, layer := range a.layers {
		if err := apply(layer, folder, found); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return found, nil
}

// Names by which a layer takes away what a lower one has.
// Source: https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

func apply(layer []byte, folder string, found map[string]*tar.Header) error {
	for entries := tar.NewReader(bytes.NewReader(layer)); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.Trim(filepath.Clean("/"+header.Name), "/")
		parent, base := filepath.Split(name)
		switch {
		case base == opaque:
			err = forget(folder, found, strings.Trim(parent, "/"), false)
		case strings.HasPrefix(base, whiteout):
			err = forget(folder, found, parent+strings.TrimPrefix(base, whiteout), true)
		default:
			err = create(folder, name, header, entries)
			found[name] = header
		}
		if err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

// forget removes what is below a name, and with itself, too, that name.
func forget(folder string, found map[string]*tar.Header, name string, itself bool) error {
	var errs []error
	for other := range found {
		if itself && other == name || strings.HasPrefix(other, name+"/") {
			errs = append(errs, os.RemoveAll(filepath.Join(folder, other)))
			delete(found, other)
		}
	}
	return errors.Join(errs...)
}

func create(folder, name string, header *tar.Header, content io.Reader) error {
	path := filepath.Join(folder, name)
	if now, err := os.Lstat(path); err == nil && (!now.IsDir() || header.Typeflag != tar.TypeDir) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := write(path, folder, header, content); err != nil || header.Typeflag == tar.TypeLink {
		return err
	}
	if os.Getuid() == 0 {
		if err := os.Lchown(path, header.Uid, header.Gid); err != nil {
			return err
		}
	}
	if header.Typeflag == tar.TypeSymlink {
		return nil
	}
	if err := os.Chmod(path, header.FileInfo().Mode()); err != nil || os.Getuid() != 0 {
		return err
	}
	return setAttributes(path, header)
}

// attribute is how the records of extended attributes begin.
const attribute = "SCHILY.xattr."

func setAttributes(path string, header *tar.Header) error {
	for record, value := range header.PAXRecords {
		if name, ok := strings.CutPrefix(record, attribute); ok {
			if err := unix.Setxattr(path, name, []byte(value), 0); err != nil {
				return fmt.Errorf("set %s: %w", name, err)
			}
		}
	}
	return nil
}

func write(path, folder string, header *tar.Header, content io.Reader) error {
	switch header.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, 0o755)
	case tar.TypeSymlink:
		return os.Symlink(header.Linkname, path)
	case tar.TypeLink:
		return os.Link(filepath.Join(folder, header.Linkname), path)
	case tar.TypeReg:
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	}
	return fmt.Errorf("it is of the type %q, which the image is not to hold", header.Typeflag)
}
