package main

import (
	"regexp"
	"slices"
	"strings"
)

// debianPackage is one paragraph of dpkg's record.
type debianPackage struct {
	Name, Version, Architecture string
	// Source is the source package, if it has another name or version.
	Source, Homepage, Summary string
	// Licenses are SPDX's or, where Debian's name has none there, our own names
	// for them; nil where the copyright file cannot be read by machines.
	Licenses []string
}

// debianPackages reads dpkg's record and the copyright files.
func debianPackages(base tree) []debianPackage {
	var found []debianPackage
	for paragraph := range strings.SplitSeq(string(base.file("var/lib/dpkg/status")), "\n\n") {
		fields := fieldsOf(paragraph)
		if fields["Package"] == "" {
			continue
		}
		p := debianPackage{
			Name: fields["Package"], Version: fields["Version"], Architecture: fields["Architecture"],
			Source: fields["Source"], Homepage: fields["Homepage"],
		}
		p.Summary, _, _ = strings.Cut(fields["Description"], "\n")
		p.Licenses = licensesOf(string(base.copyright(p.Name)))
		found = append(found, p)
	}
	slices.SortFunc(found, func(a, b debianPackage) int {
		return strings.Compare(a.Name+" "+a.Architecture, b.Name+" "+b.Architecture)
	})
	return found
}

// copyright gives a package's copyright file, whose folder may be a link to that
// of another package.
func (t tree) copyright(name string) []byte {
	folder := "usr/share/doc/" + name
	if at := slices.IndexFunc(t, func(e entry) bool { return e.Name == folder && e.Linkname != "" }); at >= 0 {
		folder = "usr/share/doc/" + strings.TrimPrefix(t[at].Linkname, "/usr/share/doc/")
	}
	return t.file(folder + "/copyright")
}

// fieldsOf reads a paragraph of a control file. The lines of a longer value are
// kept as they are.
func fieldsOf(paragraph string) map[string]string {
	fields, last := map[string]string{}, ""
	for line := range strings.SplitSeq(paragraph, "\n") {
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			fields[last] += "\n" + line
			continue
		}
		if name, value, ok := strings.Cut(line, ":"); ok {
			last = name
			fields[name] = strings.TrimSpace(value)
		}
	}
	return fields
}

// spdxNames gives SPDX's names of Debian's. Case does not count.
// Source: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/#license-short-name
var spdxNames = map[string]string{
	"expat": "MIT", "mit": "MIT", "isc": "ISC", "zlib": "Zlib", "curl": "curl", "openldap-2.8": "OLDAP-2.8", "bsl-1.0": "BSL-1.0", "cc0-1.0": "CC0-1.0", "cc0": "CC0-1.0", "0bsd": "0BSD", "unlicense": "Unlicense", "x11": "X11", "mpl-2.0": "MPL-2.0", "mpl-1.1": "MPL-1.1",
	"apache-2.0": "Apache-2.0", "apache-2": "Apache-2.0", "artistic": "Artistic-1.0-Perl", "artistic-2.0": "Artistic-2.0", "unicode": "Unicode-3.0",
	"bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "bsd-4-clause": "BSD-4-Clause", "bsd-2-clauses": "BSD-2-Clause", "bsd-3-clauses": "BSD-3-Clause", "fsfap": "FSFAP", "fsful": "FSFUL", "fsfullr": "FSFULLR",
	"gpl-1": "GPL-1.0-only", "gpl-1+": "GPL-1.0-or-later", "gpl-2": "GPL-2.0-only", "gpl-2+": "GPL-2.0-or-later", "gpl-2.0": "GPL-2.0-only", "gpl-2.0+": "GPL-2.0-or-later", "gpl-3": "GPL-3.0-only", "gpl-3+": "GPL-3.0-or-later", "gpl-3.0+": "GPL-3.0-or-later",
	"lgpl-2": "LGPL-2.0-only", "lgpl-2+": "LGPL-2.0-or-later", "lgpl-2.0+": "LGPL-2.0-or-later", "lgpl-2.1": "LGPL-2.1-only", "lgpl-2.1+": "LGPL-2.1-or-later", "lgpl-3": "LGPL-3.0-only", "lgpl-3+": "LGPL-3.0-or-later", "lgpl-3.0+": "LGPL-3.0-or-later",
	"gfdl-1.3+": "GFDL-1.3-or-later", "gfdl-1.2+": "GFDL-1.2-or-later",
}

// connective separates the licenses of one field, such as "GPL-2+ or Expat".
var connective = regexp.MustCompile(`(?i)\s*,?\s+(?:and/or|and|or)\s+|\s*[|,]\s*`)

// notName is what a reference to a license of our own cannot hold.
var notName = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// licensesOf reads a copyright file in Debian's format for machines.
func licensesOf(text string) []string {
	if !strings.HasPrefix(text, "Format:") {
		return nil
	}
	var found []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		names, _, _ := strings.Cut(fieldsOf(paragraph)["License"], "\n")
		for _, name := range connective.Split(strings.TrimSpace(names), -1) {
			if id := licenseID(name); id != "" && !slices.Contains(found, id) {
				found = append(found, id)
			}
		}
	}
	slices.Sort(found)
	return found
}

// ownLicense is how names begin that SPDX does not have.
const ownLicense = "LicenseRef-Debian-"

func licenseID(name string) string {
	for debians, id := range spdxNames {
		if strings.EqualFold(name, debians) || strings.EqualFold(name, id) {
			return id
		}
	}
	if name = strings.Trim(notName.ReplaceAllString(name, "-"), "-"); name == "" {
		return ""
	}
	return ownLicense + name
}
