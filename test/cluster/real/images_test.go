//go:build image

package real

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"sluice/test/cluster"
)

// registryHost is the name of the registry. It has the images of registry.k8s.io, too.
const registryHost = "registry.example"

// Images by their names at registry.k8s.io, and the programs that they are made of.
// agnhost also is the pause container.
const (
	agnhostImage = "e2e-test-images/agnhost:2.53"
	pauseImage   = "pause:3.10"
	corednsImage = "coredns/coredns:v1.14.7"
)

// pushImages puts the images that are not Sluice's into the registry.
func pushImages(dir string) error {
	for _, one := range []struct {
		name, program string
		entrypoint    []string
	}{
		{agnhostImage, "agnhost", []string{"/agnhost"}},
		{pauseImage, "agnhost", []string{"/agnhost", "pause"}},
		{corednsImage, "coredns", []string{"/coredns"}},
	} {
		archive := filepath.Join(dir, strings.Map(inName, one.name)+".tar")
		if err := packImage(archive, one.program, one.entrypoint); err != nil {
			return fmt.Errorf("pack the image %s: %w", one.name, err)
		}
		output, err := exec.Command("skopeo", "copy", "--preserve-digests", "oci-archive:"+archive, "docker://"+registryHost+"/"+one.name).CombinedOutput()
		if err != nil {
			return fmt.Errorf("push %s: %w: %s", one.name, err, output)
		}
	}
	return nil
}

// inName replaces what skopeo takes for the end of a file's name.
func inName(r rune) rune {
	if r == '/' || r == ':' {
		return '-'
	}
	return r
}

// packImage writes an OCI archive with one static program.
// Source: https://github.com/opencontainers/image-spec/blob/main/image-layout.md
func packImage(archive, program string, entrypoint []string) error {
	path, err := cluster.NodeProgram(program)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	layer := tarOf([]file{{program, 0o755, content}})
	config := marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Entrypoint": entrypoint, "User": "65534:65534"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(layer)}},
	})
	manifest := marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": descriptor("config.v1+json", config), "layers": []any{descriptor("layer.v1.tar", layer)},
	})
	blob := func(content []byte) file {
		return file{"blobs/sha256/" + digest(content)[len("sha256:"):], 0o644, content}
	}
	return os.WriteFile(archive, tarOf([]file{
		{"oci-layout", 0o644, []byte(`{"imageLayoutVersion": "1.0.0"}`)},
		{"index.json", 0o644, marshal(map[string]any{"schemaVersion": 2, "manifests": []any{descriptor("manifest.v1+json", manifest)}})},
		blob(layer), blob(config), blob(manifest),
	}), 0o644)
}

// file is an entry of a tar archive.
type file struct {
	name    string
	mode    int64
	content []byte
}

func tarOf(files []file) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files { // writing to memory does not fail
		_ = w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), Typeflag: tar.TypeReg})
		_, _ = w.Write(f.content)
	}
	_ = w.Close()
	return b.Bytes()
}

func descriptor(kind string, content []byte) map[string]any {
	return map[string]any{"mediaType": "application/vnd.oci.image." + kind, "digest": digest(content), "size": len(content)}
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

func marshal(value any) []byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // such values can always be written
	}
	return content
}
