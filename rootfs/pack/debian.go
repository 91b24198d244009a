package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// debianPackage is one paragraph of dpkg's record.
type debianPackage struct {
	Name, Version, Architecture string
	// Source is the source package, if it has another name or version.
	Source, Homepage, Summary string
	// Licenses all hold, each for some of the files. They are expressions of names of
	// SPDX, or of our own for licenses that SPDX lacks; alternatives are in
	// parentheses. nil if the copyright file is not machine-readable.
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

// distro names the release of Debian as vulnerability scanners do.
func (t tree) distro() (string, error) {
	fields := map[string]string{}
	for line := range strings.Lines(string(t.file("usr/lib/os-release"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		fields[name] = strings.Trim(value, `"`)
	}
	if fields["ID"] == "" || fields["VERSION_ID"] == "" {
		return "", fmt.Errorf("usr/lib/os-release has the ID %q and the VERSION_ID %q, want both", fields["ID"], fields["VERSION_ID"])
	}
	return fields["ID"] + "-" + fields["VERSION_ID"], nil
}

// copyright returns the copyright file of a package. Its folder may be a link to that of
// another package.
func (t tree) copyright(name string) []byte {
	folder := "usr/share/doc/" + name
	if at := slices.IndexFunc(t, func(e entry) bool { return e.Name == folder && e.Linkname != "" }); at >= 0 {
		folder = "usr/share/doc/" + strings.TrimPrefix(t[at].Linkname, "/usr/share/doc/")
	}
	return t.file(folder + "/copyright")
}

// fieldsOf reads a paragraph of a control file. Values keep their line ends.
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

// spdxNames maps Debian's names of licenses, in any case, to those of SPDX.
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
type connective struct {
	between *regexp.Regexp
	// any is set if one of them may be chosen; otherwise all hold.
	any bool
}

// connectives are in the order of separation: "and" binds more tightly than "or", and
// both bind more tightly without a comma before them. A comma alone is an "and".
// Source: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/#license-syntax
var connectives = []connective{
	{regexp.MustCompile(`(?i)\s*,\s*(?:and/or|or)\s+`), true},
	{regexp.MustCompile(`(?i)\s*,\s*(?:and\s+)?`), false},
	{regexp.MustCompile(`(?i)\s+(?:and/or|or)\s+|\s*\|\s*`), true},
	{regexp.MustCompile(`(?i)\s+and\s+`), false},
}

// together returns the expressions of a field; all of them hold.
func together(text string, by []connective) []string {
	if len(by) == 0 {
		if id := licenseID(text); id != "" {
			return []string{id}
		}
		return nil
	}
	var all, either []string
	for _, part := range by[0].between.Split(text, -1) {
		terms := together(part, by[1:])
		all = append(all, terms...)
		if len(terms) > 0 {
			either = append(either, expression(terms, " AND "))
		}
	}
	if by[0].any && len(either) > 1 {
		return []string{expression(either, " OR ")}
	}
	return all
}

// expression joins terms, each once and sorted.
func expression(terms []string, operator string) string {
	terms = slices.Compact(slices.Sorted(slices.Values(terms)))
	if len(terms) == 1 {
		return terms[0]
	}
	return "(" + strings.Join(terms, operator) + ")"
}

// identifiers returns the licenses in an expression.
func identifiers(expression string) []string {
	words := strings.FieldsFunc(expression, func(r rune) bool { return strings.ContainsRune(" ()", r) })
	return slices.DeleteFunc(words, func(word string) bool { return word == "AND" || word == "OR" })
}

// notName matches characters that are not allowed in our names of licenses.
var notName = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// licensesOf reads a machine-readable copyright file: the licenses of its files and of
// the whole. The other paragraphs give the text of each license, without alternatives;
// they count only if there is nothing else.
func licensesOf(text string) []string {
	if !strings.HasPrefix(text, "Format:") {
		return nil
	}
	var found, texts []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		fields := fieldsOf(paragraph)
		names, _, _ := strings.Cut(fields["License"], "\n")
		terms := together(strings.TrimSpace(names), connectives)
		if fields["Files"] != "" || fields["Format"] != "" {
			found = append(found, terms...)
		} else {
			texts = append(texts, terms...)
		}
	}
	if len(found) == 0 {
		found = texts
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// ownLicense begins the names of licenses that SPDX lacks.
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
