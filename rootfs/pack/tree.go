package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// entry is one file or folder of a tree; its name has no "./" before it and no "/"
// behind it.
type entry struct {
	tar.Header
	content []byte
}

// tree is the content of one layer, sorted by name.
type tree []entry

// leftOut are traces of apt and of the building machine. A name that ends in a slash
// stands for all that is below the folder, but not for the folder.
var leftOut = []string{
	"dev/", "proc/", "sys/", "run/", "tmp/", "var/tmp/", "var/cache/", "var/log/", "var/lib/apt/", "etc/apt/", "var/lib/dpkg/updates/",
	"etc/apt", "var/lib/apt", "var/lib/dpkg/arch", "var/lib/dpkg/updates", "etc/hostname", "etc/hosts", "etc/resolv.conf", "etc/machine-id",
	"etc/ld.so.cache", "etc/mtab", "etc/fstab", "var/lib/dpkg/lock", "var/lib/dpkg/lock-frontend",
}

func isLeftOut(name string) bool {
	return slices.ContainsFunc(leftOut, func(rule string) bool {
		return name == rule || strings.HasSuffix(rule, "/") && strings.HasPrefix(name, rule)
	})
}

// readTree reads a tar archive for the image: no file is younger than latest, and
// nothing depends on the machine that made it.
func readTree(path string, latest time.Time) (tree, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var t tree
	for archive := tar.NewReader(file); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		e, wanted := plain(header, latest)
		if !wanted {
			continue
		}
		if e.content, err = io.ReadAll(archive); err != nil {
			return nil, err
		}
		t = append(t, e)
	}
	t.sort()
	return t, nil
}

// plain reduces a header to the fields that the image needs; ok is false for a file that
// the image does not need. Debian's part belongs to root, so that it is read-only.
// Devices come from the container runtime.
func plain(h *tar.Header, latest time.Time) (e entry, ok bool) {
	name := strings.Trim(path.Clean("/"+h.Name), "/")
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink:
	default:
		return entry{}, false
	}
	if name == "" || isLeftOut(name) {
		return entry{}, false
	}
	link := h.Linkname
	if h.Typeflag == tar.TypeLink {
		link = strings.Trim(path.Clean("/"+link), "/")
	}
	modified := h.ModTime.UTC().Truncate(time.Second)
	if modified.After(latest) {
		modified = latest
	}
	return entry{Header: tar.Header{
		Typeflag: h.Typeflag, Name: name, Linkname: link, Size: h.Size, Mode: h.Mode & 0o7777, ModTime: modified,
	}}, true
}

// sort orders by name. Hard links are last, because their targets must come first.
func (t tree) sort() {
	slices.SortFunc(t, func(a, b entry) int {
		if (a.Typeflag == tar.TypeLink) != (b.Typeflag == tar.TypeLink) {
			if a.Typeflag == tar.TypeLink {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// bytes returns the tree as a tar archive.
func (t tree) bytes() ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, e := range t {
		header := e.Header
		if header.Typeflag == tar.TypeDir {
			header.Name += "/"
		}
		if err := archive.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return buffer.Bytes(), err
}

// file returns the content of a regular file, nil if there is none.
func (t tree) file(name string) []byte {
	at := slices.IndexFunc(t, func(e entry) bool { return e.Name == name })
	if at < 0 {
		return nil
	}
	return t[at].content
}

func (t tree) size() int64 {
	total := int64(0)
	for _, e := range t {
		total += int64(len(e.content))
	}
	return total
}

// A user other than root can listen on ports below 1024 only if both the container and
// the file of the program have NET_BIND_SERVICE. The file has it in its permitted set;
// with the effective one, the program could not run where the capability is dropped.
// The bytes are those of `setcap cap_net_bind_service=p`: VFS_CAP_REVISION_2, then the
// two sets of 32 capabilities each.
// Source: struct vfs_cap_data in linux/capability.h
const (
	capabilityRecord = "SCHILY.xattr.security.capability"
	mayBindService   = "\x00\x00\x00\x02" + "\x00\x04\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"
)

// The account that the image runs as. rootfs/finish.sh makes it.
const account = 101

// ownTree returns our part of the image.
func (in inputs) ownTree(bill []byte) (tree, error) {
	binary, err := os.ReadFile(in.binary)
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile(in.license)
	if err != nil {
		return nil, err
	}
	var t tree
	add := func(h tar.Header, content []byte) {
		h.ModTime, h.Size = in.time(), int64(len(content))
		t = append(t, entry{h, content})
	}
	add(tar.Header{Typeflag: tar.TypeReg, Name: "usr/bin/sluice", Mode: 0o755, PAXRecords: map[string]string{capabilityRecord: mayBindService}}, binary)
	for _, applet := range []string{"nginx-ingress-controller", "wait-shutdown", "dbg"} {
		add(tar.Header{Typeflag: tar.TypeSymlink, Name: applet, Linkname: "usr/bin/sluice", Mode: 0o777}, nil)
	}
	// Its place in ingress-nginx's image. The state is in the folder "state" of a volume, and else in /var/lib/sluice itself.
	add(tar.Header{Typeflag: tar.TypeSymlink, Name: "etc/nginx/nginx.conf", Linkname: "/var/lib/sluice/state/nginx.conf", Mode: 0o777}, nil)
	add(tar.Header{Typeflag: tar.TypeDir, Name: "var/lib/sluice", Mode: 0o700, Uid: account, Gid: account}, nil)
	add(tar.Header{Typeflag: tar.TypeSymlink, Name: "var/lib/sluice/state", Linkname: ".", Mode: 0o777}, nil)
	add(tar.Header{Typeflag: tar.TypeDir, Name: "usr/share/doc/sluice", Mode: 0o755}, nil)
	add(tar.Header{Typeflag: tar.TypeReg, Name: "usr/share/doc/sluice/LICENSE", Mode: 0o644}, license)
	add(tar.Header{Typeflag: tar.TypeReg, Name: "usr/share/doc/sluice/sbom.spdx.json", Mode: 0o644}, bill)
	t.sort()
	return t, nil
}
