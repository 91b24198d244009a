package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// labels are the labels of the OCI image specification.
// Source: https://github.com/opencontainers/image-spec/blob/main/annotations.md
func (in inputs) labels() map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":       "sluice",
		"org.opencontainers.image.description": "An ingress controller for Kubernetes, built on nginx",
		"org.opencontainers.image.version":     in.version,
		"org.opencontainers.image.created":     in.time().Format("2006-01-02T15:04:05Z"),
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
	if in.revision != "" {
		labels["org.opencontainers.image.revision"] = in.revision
	}
	return labels
}

// config says how containers of the image run. A test compares it with rootfs/Dockerfile.
func (in inputs) config() v1.Config {
	return v1.Config{
		Entrypoint:   []string{"/usr/bin/sluice"},
		Cmd:          []string{"/nginx-ingress-controller"},
		User:         "101:101",
		WorkingDir:   "/",
		Env:          []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "XDG_STATE_HOME=/var/lib"},
		ExposedPorts: map[string]struct{}{"80/tcp": {}, "443/tcp": {}, "10254/tcp": {}},
		StopSignal:   "SIGTERM",
		Labels:       in.labels(),
	}
}

// written describes a finished image; compressed is its size in bytes.
type written struct {
	digest     string
	compressed int64
}

// image writes the archive.
func (in inputs) image(base, own tree) (written, error) {
	image, err := in.build(base, own)
	if err != nil {
		return written{}, err
	}
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return written{}, err
	}
	defer os.RemoveAll(folder)
	if err := in.lay(folder, image); err != nil {
		return written{}, err
	}
	digest, err := image.Digest()
	if err != nil {
		return written{}, err
	}
	size, err := in.archive(folder)
	return written{digest: digest.String(), compressed: size}, err
}

// build makes an image of two layers: Debian's, which changes rarely, and ours.
func (in inputs) build(base, own tree) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(image, &v1.ConfigFile{
		Architecture: in.architecture, OS: "linux", Created: v1.Time{Time: in.time()}, Config: in.config(), RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		tree tree
		what string
	}{{base, "rootfs/debian.sh"}, {own, "rootfs/pack"}} {
		content, err := part.tree.bytes()
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(9), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: in.time()}, CreatedBy: part.what}})
		if err != nil {
			return nil, err
		}
	}
	return mutate.Annotations(image, in.labels()).(v1.Image), nil
}

// lay writes an OCI layout to a folder, with the names that docker, podman and
// containerd read, and the manifest for older versions of docker.
func (in inputs) lay(folder string, image v1.Image) error {
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := path.WriteImage(image); err != nil {
		return err
	}
	described, err := partial.Descriptor(image)
	if err != nil {
		return err
	}
	described.ArtifactType = "" // only for artifacts that are not images
	described.Platform = &v1.Platform{OS: "linux", Architecture: in.architecture}
	described.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": in.version, "io.containerd.image.name": "docker.io/library/sluice:" + in.version,
	}
	if err := path.AppendDescriptor(*described); err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }
	old := struct {
		Config           string
		RepoTags, Layers []string
	}{Config: blob(manifest.Config.Digest), RepoTags: []string{"sluice:" + in.version}}
	for _, layer := range manifest.Layers {
		old.Layers = append(old.Layers, blob(layer.Digest))
	}
	content, err := json.Marshal([]any{old})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "manifest.json"), content, 0o644)
}

// archive packs the layout, and returns its size in bytes.
func (in inputs) archive(folder string) (int64, error) {
	var t tree
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		if err != nil || name == "." {
			return err
		}
		h := tar.Header{Typeflag: tar.TypeDir, Name: filepath.ToSlash(name), Mode: 0o755, ModTime: in.time()}
		var content []byte
		if !d.IsDir() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
			h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, int64(len(content))
		}
		t = append(t, entry{h, content})
		return nil
	})
	if err != nil {
		return 0, err
	}
	t.sort()
	content, err := t.bytes()
	if err != nil {
		return 0, err
	}
	return int64(len(content)), os.WriteFile(in.out+".oci.tar", content, 0o644)
}
