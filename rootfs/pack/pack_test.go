package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// read gives a file of the folder above.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// instructions are those of the Dockerfile, by their names; lines that go on are
// joined.
func instructions(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(read(t, "Dockerfile"), "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			found[name] = append(found[name], strings.Join(strings.Fields(rest), " "))
		}
	}
	return found
}

// TestDockerfileSaysTheSame: the image of the Dockerfile is run as the one that is
// packed here, and has the same labels and links.
func TestDockerfileSaysTheSame(t *testing.T) {
	t.Parallel()
	of := instructions(t)
	list := func(texts []string) (values []string) {
		if len(texts) != 1 || json.Unmarshal([]byte(texts[0]), &values) != nil {
			t.Errorf("%q is no list", texts)
		}
		return values
	}
	want := inputs{version: "v", revision: "r"}.config()
	for what, pair := range map[string][2][]string{
		"ENTRYPOINT": {list(of["ENTRYPOINT"]), want.Entrypoint},
		"CMD":        {list(of["CMD"]), want.Cmd},
		"USER":       {of["USER"], {want.User}},
		"WORKDIR":    {of["WORKDIR"], {want.WorkingDir}},
		"STOPSIGNAL": {of["STOPSIGNAL"], {want.StopSignal}},
		"ENV":        {strings.Fields(of["ENV"][0]), want.Env},
		"EXPOSE":     {slices.Sorted(slices.Values(strings.Fields(of["EXPOSE"][0]))), slices.Sorted(maps.Keys(want.ExposedPorts))},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: the Dockerfile says %q, pack %q", what, pair[0], pair[1])
		}
	}
	// tree.go has the same as bytes.
	if run := of["RUN"]; len(run) != 2 || !strings.HasSuffix(run[1], "setcap cap_net_bind_service=p /usr/bin/sluice") {
		t.Errorf("the Dockerfile runs %q, want that the last gives the program its capability", run)
	}
	labels := regexp.MustCompile(`(\S+)="([^"]*)"`).FindAllStringSubmatch(of["LABEL"][0], -1)
	if len(labels) != len(want.Labels) {
		t.Errorf("the Dockerfile has the labels %v, pack %v", labels, want.Labels)
	}
	for _, label := range labels {
		if value, has := want.Labels[label[1]]; !has || !strings.HasPrefix(label[2], "${") && label[2] != value {
			t.Errorf("the label %s is %q in the Dockerfile, %q here", label[1], label[2], value)
		}
	}
}

// TestOneListOfPackages: both ways to the image install what rootfs/packages
// lists, of the same release, and finish it alike.
func TestOneListOfPackages(t *testing.T) {
	t.Parallel()
	of := instructions(t)
	script, common := read(t, "debian.sh"), read(t, "mmdebstrap.sh")
	suite := regexp.MustCompile(`(?m)^suite=([a-z]+)\b`).FindStringSubmatch(common)
	if suite == nil {
		t.Fatal("mmdebstrap.sh names no suite")
	}
	if !slices.Equal(of["FROM"], []string{"debian:" + suite[1] + "-slim"}) || !slices.Contains(of["COPY"], "rootfs/packages /tmp/packages") {
		t.Errorf("the Dockerfile begins from %q and copies %q", of["FROM"], of["COPY"])
	}
	for _, wanted := range []string{"sed 's/#.*//' /tmp/packages", "xargs apt-get install -y --no-install-recommends;", "usermod --uid 101 --gid 101", "-o 101 -g 101 /var/lib/sluice", "ln -s . /var/lib/sluice/state", "ln -sf /var/lib/sluice/state/nginx.conf /etc/nginx/nginx.conf"} {
		if !strings.Contains(of["RUN"][0], wanted) {
			t.Errorf("the Dockerfile does not say %q", wanted)
		}
	}
	if install := regexp.MustCompile(`apt-get install[^;]*`).FindAllString(of["RUN"][0], -1); len(install) != 1 || regexp.MustCompile(`--no-install-recommends \S`).MatchString(install[0]) {
		t.Errorf("the Dockerfile installs %q, want the list alone", install)
	}
	for _, wanted := range []string{`"$here/packages"`, `unpack "$packages"`, `"$suite" "$target"`, "deb $mirror $suite main"} {
		if !strings.Contains(script, wanted) {
			t.Errorf("debian.sh does not say %q", wanted)
		}
	}
	for _, wanted := range []string{`--include="$include"`, `Install-Recommends "false"`} {
		if !strings.Contains(common, wanted) {
			t.Errorf("mmdebstrap.sh does not say %q", wanted)
		}
	}
	packages := strings.Fields(regexp.MustCompile(`(?m)#.*$`).ReplaceAllString(read(t, "packages"), ""))
	sorted := slices.Sorted(slices.Values(packages))
	if len(packages) < 15 || len(slices.Compact(sorted)) != len(packages) {
		t.Errorf("the packages are %v, want each once", packages)
	}
	// What the tests run without the image is a part of it.
	tested := regexp.MustCompile(`(?m)^packages=(.*)$`).FindStringSubmatch(read(t, "../test/rootfs/build.sh"))
	for name := range strings.SplitSeq(tested[1], ",") {
		if name != "pcre2-utils" && !slices.Contains(packages, name) {
			t.Errorf("the tests run with %s, which the image lacks", name)
		}
	}
}

// archiveOf writes a tar archive as mmdebstrap might, and gives its path.
func archiveOf(t *testing.T, headers ...tar.Header) string {
	t.Helper()
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, h := range headers {
		content := bytes.Repeat([]byte("x"), int(h.Size))
		if err := writer.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	writer.Close()
	path := filepath.Join(t.TempDir(), "base.tar")
	if err := os.WriteFile(path, buffer.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTreeIsTheSame: order, times and names of accounts of the machine that it was
// made on are not in a layer, nor what belongs to that machine.
func TestTreeIsTheSame(t *testing.T) {
	t.Parallel()
	latest := time.Unix(1_000_000, 0).UTC()
	old, young := time.Unix(500, 700).UTC(), latest.Add(time.Hour)
	file := tar.Header{Typeflag: tar.TypeReg, Name: "./usr/bin/a", Size: 3, Mode: 0o755, ModTime: old}
	link := tar.Header{Typeflag: tar.TypeLink, Name: "./usr/bin/A", Linkname: "./usr/bin/a", ModTime: young}
	folder := tar.Header{Typeflag: tar.TypeDir, Name: "./usr/", Mode: 0o755, ModTime: young}
	one, err := readTree(archiveOf(t, folder, file, link), latest)
	if err != nil {
		t.Fatal(err)
	}
	file.Uid, file.Uname, folder.Gname, folder.ModTime, link.ModTime = 1000, "jane", "staff", young.Add(time.Hour), latest
	other, err := readTree(archiveOf(t, tar.Header{Typeflag: tar.TypeChar, Name: "./dev/null"}, tar.Header{Typeflag: tar.TypeReg, Name: "./etc/hostname", Size: 4},
		tar.Header{Typeflag: tar.TypeReg, Name: "./var/log/x", Size: 1}, file, folder, link), latest)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := one.bytes()
	b, errB := other.bytes()
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("%v %v: the layers differ: %+v and %+v", errA, errB, one, other)
	}
	var names []string
	for _, e := range one {
		names = append(names, e.Name)
		if e.ModTime.After(latest) || e.ModTime.Nanosecond() != 0 {
			t.Errorf("%s is of %v", e.Name, e.ModTime)
		}
	}
	if !slices.Equal(names, []string{"usr", "usr/bin/a", "usr/bin/A"}) {
		t.Errorf("the order is %v, want hard links behind what they lead to", names)
	}
}

func TestLicenses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Format: x\n\nFiles: *\nLicense: GPL-2+ or Expat\n text\n\nFiles: b\nLicense: BSD-3-clause\n": {"(GPL-2.0-or-later OR MIT)", "BSD-3-Clause"},
		"Format: x\n\nLicense: MIT | ISC\n":                                                              {"(ISC OR MIT)"},
		"Format: x\n\nLicense: Expat and ISC\n\nLicense: ISC\n":                                          {"ISC", "MIT"},
		"Format: x\n\nLicense: Expat and ISC or Zlib\n":                                                  {"((ISC AND MIT) OR Zlib)"},
		"Format: x\n\nLicense: Expat or ISC, and Zlib\n":                                                 {"(ISC OR MIT)", "Zlib"},
		"Format: x\n\nLicense: Expat, or odd one, or Expat\n":                                            {"(LicenseRef-Debian-odd-one OR MIT)"},
		"Format: x\n\nLicense: Expat or MIT\n":                                                           {"MIT"},
		"Format: x\n\nFiles: *\nLicense: Expat or ISC\n\nLicense: ISC\n text\n\nLicense: Expat\n text\n": {"(ISC OR MIT)"},
		"Format: x\nLicense: Zlib\n\nLicense: ISC\n text\n":                                              {"Zlib"},
		"Format: x\n\nFiles: *\nLicense: gpl-2.0-only\n":                                                 {"GPL-2.0-only"},
		"Format: x\n\nFiles: *\nLicense: public domain\n":                                                {"LicenseRef-Debian-public-domain"},
		"This is free software.":                                                                         nil,
		"Format: x\n\nFiles: *\nLicense:\n":                                                              nil,
	} {
		if got := licensesOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// TestIdentifiers: those of our own are explained wherever they are named.
func TestIdentifiers(t *testing.T) {
	t.Parallel()
	if got := identifiers("(ISC OR (LicenseRef-Debian-x AND MIT)) AND Zlib"); !slices.Equal(got, []string{"ISC", "LicenseRef-Debian-x", "MIT", "Zlib"}) {
		t.Errorf("got %v", got)
	}
}

// TestPURL: what would be read as something else is escaped; colons are not.
func TestPURL(t *testing.T) {
	t.Parallel()
	if got := "pkg:deb/debian/" + inPURL("libstdc++6") + "@" + inPURL("1:2.3~rc1-4+b1"); got != "pkg:deb/debian/libstdc%2B%2B6@1:2.3~rc1-4%2Bb1" {
		t.Errorf("got %s", got)
	}
	if got := modulePURL("example.org/a/b", "v2.0.0+incompatible"); got != "pkg:golang/example.org/a/b@v2.0.0%2Bincompatible" {
		t.Errorf("got %s", got)
	}
}

// TestDistro: it is read of the image itself.
func TestDistro(t *testing.T) {
	t.Parallel()
	got, err := tree{{tar.Header{Name: "usr/lib/os-release"}, []byte("NAME=\"x y\"\nVERSION_ID=\"13\"\nID=debian\n")}}.distro()
	if got != "debian-13" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := (tree{}).distro(); err == nil {
		t.Errorf("of nothing it is %q", got)
	}
}

// TestDebianPackages: dpkg's record and the copyright files, whose folders may be
// links.
func TestDebianPackages(t *testing.T) {
	t.Parallel()
	base := tree{
		{tar.Header{Name: "var/lib/dpkg/status"}, []byte("Package: b\nStatus: install ok installed\nVersion: 1:2-3\nArchitecture: amd64\nDescription: short\n long\n\nPackage: a\nVersion: 1\nArchitecture: all\nSource: s (2)\n")},
		{tar.Header{Name: "usr/share/doc/b/copyright"}, []byte("Format: x\n\nLicense: ISC\n")},
		{tar.Header{Name: "usr/share/doc/a", Typeflag: tar.TypeSymlink, Linkname: "b"}, nil},
	}
	got := debianPackages(base)
	if len(got) != 2 || got[0].Name != "a" || got[0].Source != "s (2)" || got[1].Version != "1:2-3" || got[1].Summary != "short" ||
		!slices.Equal(got[0].Licenses, []string{"ISC"}) || !slices.Equal(got[1].Licenses, []string{"ISC"}) {
		t.Errorf("%+v", got)
	}
}
