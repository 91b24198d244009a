//go:build image

package image

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBuiltTwice: the same commit gives the same archive, to the byte.
func TestBuiltTwice(t *testing.T) {
	first, second := openArchive(t, "SLUICE_IMAGE"), openArchive(t, "SLUICE_IMAGE_AGAIN")
	one, other := first.index.Manifests[0].Digest, second.index.Manifests[0].Digest
	if one != other {
		for i := range first.layers {
			if !bytes.Equal(first.layers[i], second.layers[i]) {
				t.Errorf("layer %d differs: %s", i, differences(t, first.layers[i], second.layers[i]))
			}
		}
		t.Fatalf("built twice: %s and %s", one, other)
	}
	for _, suffix := range []string{".oci.tar", ".spdx.json"} {
		var contents [2][]byte
		for i, name := range []string{"SLUICE_IMAGE", "SLUICE_IMAGE_AGAIN"} {
			var err error
			if contents[i], err = os.ReadFile(strings.TrimSuffix(variable(t, name), ".oci.tar") + suffix); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(contents[0], contents[1]) {
			t.Errorf("the two files %s differ", suffix)
		}
	}
	t.Logf("%s twice", one)
}

// differences names what two layers do not have in common.
func differences(t *testing.T, one, other []byte) []string {
	t.Helper()
	names := func(layer []byte) map[string]string {
		found := map[string]string{}
		for entries := tar.NewReader(bytes.NewReader(layer)); ; {
			header, err := entries.Next()
			if err != nil {
				return found
			}
			content := new(bytes.Buffer)
			_, _ = content.ReadFrom(entries)
			found[header.Name] = header.ModTime.String() + digest(content.Bytes())
		}
	}
	a, b := names(one), names(other)
	var found []string
	for name := range a {
		if a[name] != b[name] {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// TestArchive: what docker, podman and containerd read of an archive, and how a
// container of it is run.
func TestArchive(t *testing.T) {
	a := openArchive(t, "SLUICE_IMAGE")
	labels := a.config.Config.Labels
	version := labels["org.opencontainers.image.version"]
	for name, got := range map[string]string{
		"the name for podman and docker": a.index.Manifests[0].Annotations["org.opencontainers.image.ref.name"],
		"the name for containerd":        strings.TrimPrefix(a.index.Manifests[0].Annotations["io.containerd.image.name"], "docker.io/library/sluice:"),
		"the tag for old docker":         strings.TrimPrefix(a.old[0].RepoTags[0], "sluice:"),
		"the annotation of the manifest": a.manifest.Annotations["org.opencontainers.image.version"],
	} {
		if got != version || version == "" {
			t.Errorf("%s is %q, want %q", name, got, version)
		}
	}
	for _, label := range []string{"title", "description", "created", "licenses", "revision"} {
		if labels["org.opencontainers.image."+label] == "" {
			t.Errorf("no label %s", label)
		}
	}
	if a.old[0].Config != "blobs/"+strings.Replace(a.manifest.Config.Digest, ":", "/", 1) || len(a.old[0].Layers) != len(a.layers) {
		t.Errorf("manifest.json says %+v", a.old[0])
	}
	if d := a.index.Manifests[0]; d.MediaType != "application/vnd.oci.image.manifest.v1+json" || d.ArtifactType != "" {
		t.Errorf("the index says that it is a %s of the type %q", d.MediaType, d.ArtifactType)
	}
	if p := a.index.Manifests[0].Platform; p.OS != "linux" || p.Architecture != a.config.Architecture {
		t.Errorf("the platform is %+v, the configuration's architecture %s", p, a.config.Architecture)
	}
	c := a.config.Config
	if c.User != "101:101" || c.StopSignal != "SIGTERM" || !slices.Equal(c.Entrypoint, []string{"/usr/bin/sluice"}) {
		t.Errorf("a container is run as %+v", c)
	}
	if len(a.layers) != 2 {
		t.Errorf("%d layers, want Debian's and ours", len(a.layers))
	}
}

// The one extended attribute of the image.
const program, fileCapability = "usr/bin/sluice", attribute + "security.capability"

// checkCapability: the program may have NET_BIND_SERVICE, and nothing else, where
// the container may; and can be run where it may not, which the effective bit
// would forbid.
// Source: struct vfs_cap_data in linux/capability.h
func checkCapability(t *testing.T, header *tar.Header) {
	t.Helper()
	if header == nil {
		t.Fatalf("no %s", program)
	}
	var data struct {
		Magic uint32
		Sets  [2]struct{ Permitted, Inheritable uint32 }
	}
	value := header.PAXRecords[fileCapability]
	if n, err := binary.Decode([]byte(value), binary.LittleEndian, &data); err != nil || n != len(value) {
		t.Fatalf("the capabilities of %s are %q: %v", program, value, err)
	}
	const revision2 = 0x02000000
	want := data
	want.Magic, want.Sets[0].Permitted, want.Sets[0].Inheritable = revision2, 1<<unix.CAP_NET_BIND_SERVICE, 0
	want.Sets[1].Permitted, want.Sets[1].Inheritable = 0, 0
	if data != want {
		t.Errorf("the capabilities of %s are %+v, want %+v", program, data, want)
	}
}

// TestFiles: what is in the image, and what is not.
func TestFiles(t *testing.T) {
	a := openArchive(t, "SLUICE_IMAGE")
	folder := t.TempDir()
	found, err := a.unpack(folder)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for name, header := range found {
		size += header.Size
		if header.Typeflag != tar.TypeSymlink && header.Mode&0o6000 != 0 {
			t.Errorf("%s has the rights of its owner for whoever runs it (%o)", name, header.Mode)
		}
		if header.Typeflag == tar.TypeReg && header.Mode&0o002 != 0 {
			t.Errorf("%s can be written by all (%o)", name, header.Mode)
		}
		for record, value := range header.PAXRecords {
			if strings.HasPrefix(record, attribute) && (name != program || record != fileCapability) {
				t.Errorf("%s has %s (%q), which nothing but %s is to have", name, record, value, program)
			}
		}
	}
	checkCapability(t, found[program])
	t.Logf("%.1f MB packed, %.1f MB unpacked, %d files", float64(a.packed)/1e6, float64(size)/1e6, len(found))
	state := found["var/lib/sluice"]
	if state == nil || state.Uid != 101 || state.Gid != 101 || state.Mode&0o777 != 0o700 {
		t.Errorf("the state directory is %+v", state)
	}
	for link, to := range map[string]string{
		"nginx-ingress-controller": "usr/bin/sluice", "wait-shutdown": "usr/bin/sluice", "dbg": "usr/bin/sluice",
		"etc/nginx/nginx.conf": "/var/lib/sluice/state/nginx.conf", "var/lib/sluice/state": ".",
	} {
		if h := found[link]; h == nil || h.Linkname != to {
			t.Errorf("%s is %+v, want a link to %s", link, h, to)
		}
	}
	for _, name := range []string{"usr/share/man", "usr/share/locale", "etc/machine-id", "etc/hostname", "etc/resolv.conf", "etc/ld.so.cache", "var/lib/apt", "usr/bin/dpkg", "usr/bin/apt", "usr/bin/perl"} {
		if found[name] != nil {
			t.Errorf("%s is in the image", name)
		}
	}
	accounts, err := os.ReadFile(filepath.Join(folder, "etc/passwd"))
	if err != nil || !strings.Contains(string(accounts), "\nwww-data:x:101:101:") {
		t.Errorf("the account 101: %v, %s", err, accounts)
	}
}

// bill is what the tests read of the bill of materials.
type bill struct {
	SPDXVersion, DataLicense, DocumentNamespace string
	Packages                                    []struct {
		SPDXID, Name, VersionInfo, LicenseDeclared, DownloadLocation string
		ExternalRefs                                                 []struct{ ReferenceType, ReferenceLocator string }
	}
	HasExtractedLicensingInfos []struct{ LicenseID, ExtractedText string }
	Relationships              []struct{ SPDXElementID, RelatedSPDXElement, RelationshipType string }
}

// TestBill: the bill of materials lists each package that dpkg's record has and
// the modules of the program, refers to nothing that it does not define, and is
// in the image, too.
func TestBill(t *testing.T) {
	folder := t.TempDir()
	if _, err := openArchive(t, "SLUICE_IMAGE").unpack(folder); err != nil {
		t.Fatal(err)
	}
	beside, err := os.ReadFile(strings.TrimSuffix(variable(t, "SLUICE_IMAGE"), ".oci.tar") + ".spdx.json")
	if err != nil {
		t.Fatal(err)
	}
	inside, err := os.ReadFile(filepath.Join(folder, "usr/share/doc/sluice/sbom.spdx.json"))
	if err != nil || !bytes.Equal(beside, inside) {
		t.Errorf("that in the image is another one: %v", err)
	}
	var b bill
	if err := json.Unmarshal(beside, &b); err != nil {
		t.Fatal(err)
	}
	if b.SPDXVersion != "SPDX-2.3" || b.DataLicense != "CC0-1.0" || !strings.HasPrefix(b.DocumentNamespace, "urn:") {
		t.Errorf("%s %s %s", b.SPDXVersion, b.DataLicense, b.DocumentNamespace)
	}
	b.hangsTogether(t)
	versions := map[string]string{}
	licensed := 0
	for _, p := range b.Packages {
		versions[p.Name] = p.VersionInfo
		for _, ref := range p.ExternalRefs {
			if ref.ReferenceType == "purl" && strings.ContainsAny(ref.ReferenceLocator, "+ ") {
				t.Errorf("%s has the purl %s, in which something is not escaped", p.Name, ref.ReferenceLocator)
			}
		}
		if strings.HasPrefix(p.SPDXID, "SPDXRef-Debian-") && p.LicenseDeclared != "NOASSERTION" {
			licensed++
		}
	}
	record, err := os.ReadFile(filepath.Join(folder, "var/lib/dpkg/status"))
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(record)), "\n\n") {
		name, version := field(paragraph, "Package"), field(paragraph, "Version")
		if packages++; name == "" || versions[name] != version || !strings.Contains(paragraph, "\nStatus: install ok installed\n") {
			t.Errorf("dpkg has %s %s, the bill %q:\n%s", name, version, versions[name], paragraph)
		}
	}
	for _, name := range []string{"nginx", "libnginx-mod-http-lua", "libnginx-mod-http-modsecurity", "modsecurity-crs", "libc6", "k8s.io/client-go", "stdlib"} {
		if versions[name] == "" {
			t.Errorf("%s is not in it", name)
		}
	}
	if licensed*10 < packages*8 {
		t.Errorf("the licenses of %d of %d packages are known, want most", licensed, packages)
	}
	t.Logf("%d packages of Debian, the licenses of %d of them; nginx %s", packages, licensed, versions["nginx"])
}

func field(paragraph, name string) string {
	for line := range strings.Lines(paragraph) {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// hangsTogether: names are there once, and what is referred to is there.
func (b bill) hangsTogether(t *testing.T) {
	t.Helper()
	there := map[string]bool{"SPDXRef-DOCUMENT": true}
	for _, p := range b.Packages {
		if there[p.SPDXID] {
			t.Errorf("%s is there twice", p.SPDXID)
		}
		there[p.SPDXID] = true
	}
	for _, r := range b.Relationships {
		if !there[r.SPDXElementID] || !there[r.RelatedSPDXElement] {
			t.Errorf("%+v leads nowhere", r)
		}
	}
	for _, l := range b.HasExtractedLicensingInfos {
		there[l.LicenseID] = l.ExtractedText != ""
	}
	for _, p := range b.Packages {
		for _, license := range strings.FieldsFunc(p.LicenseDeclared, func(r rune) bool { return strings.ContainsRune(" ()", r) }) {
			if strings.HasPrefix(license, "LicenseRef-") && !there[license] {
				t.Errorf("%s: %s is not explained", p.Name, license)
			}
		}
	}
}
