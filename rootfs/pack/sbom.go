package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdxlib"
)

// The elements that others are related to.
const (
	theDocument = common.ElementID("DOCUMENT")
	theImage    = common.ElementID("Image")
	theProgram  = common.ElementID("Sluice")
)

// unknown is SPDX's word for missing information.
const unknown = "NOASSERTION"

// bill returns the bill of materials in SPDX 2.3 as JSON: Debian's packages, and the Go
// modules of the program.
// Source: https://spdx.github.io/spdx-spec/v2.3/
func (in inputs) bill(base tree) ([]byte, error) {
	binary, err := os.ReadFile(in.binary)
	if err != nil {
		return nil, err
	}
	build, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.binary, err)
	}
	debian := debianPackages(base)
	if len(debian) == 0 {
		return nil, fmt.Errorf("dpkg's record names no package")
	}
	hash := sha256.Sum256(binary)
	distro, err := base.distro()
	if err != nil {
		return nil, err
	}
	d := &document{distro: distro, Document: &spdx.Document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXIdentifier: theDocument, DocumentName: fmt.Sprintf("sluice-%s-%s", in.version, in.architecture),
		CreationInfo: &spdx.CreationInfo{Created: in.time().Format("2006-01-02T15:04:05Z"), Creators: []common.Creator{{CreatorType: "Tool", Creator: "sluice-pack"}}},
	}}
	d.add(theDocument, common.TypeRelationshipDescribe, &spdx.Package{
		PackageName: "sluice", PackageSPDXIdentifier: theImage, PackageVersion: in.version, PrimaryPackagePurpose: "CONTAINER", PackageLicenseDeclared: unknown,
		PackageSummary: "The image, linux/" + in.architecture,
	})
	d.add(theImage, common.TypeRelationshipContains, &spdx.Package{
		PackageName: build.Main.Path, PackageSPDXIdentifier: theProgram, PackageVersion: in.version, PrimaryPackagePurpose: "APPLICATION", PackageLicenseDeclared: "Apache-2.0",
		PackageFileName: "/usr/bin/sluice", PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: hex.EncodeToString(hash[:])}},
	})
	d.addModules(build)
	for _, p := range debian {
		d.addDebian(p)
	}
	all := sha256.New()
	for _, p := range d.Packages {
		fmt.Fprintln(all, p.PackageName, p.PackageVersion, p.PackageChecksums)
	}
	d.DocumentNamespace = "urn:sluice:spdx:" + in.architecture + ":" + hex.EncodeToString(all.Sum(nil))
	if err := spdxlib.ValidateDocument(d.Document); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = spdxjson.Write(d.Document, &text, spdxjson.Indent(" "))
	return text.Bytes(), err
}

// document is a bill in the making.
type document struct {
	*spdx.Document
	// distro is the release of Debian, such as debian-13.
	distro string
}

func (d *document) add(whole common.ElementID, relation string, p *spdx.Package) {
	p.PackageDownloadLocation, p.PackageCopyrightText, p.PackageLicenseConcluded = unknown, unknown, unknown
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(whole)), RefB: common.MakeDocElementID("", string(p.PackageSPDXIdentifier)), Relationship: relation,
	})
}

// locator names a package for scanners of vulnerabilities.
// Source: https://github.com/package-url/purl-spec
func locator(purl string) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{Category: "PACKAGE-MANAGER", RefType: "purl", Locator: purl}}
}

// inPURL escapes a name or a version: all but letters, digits, ".-_~" and colons.
func inPURL(part string) string { return strings.ReplaceAll(url.QueryEscape(part), "%3A", ":") }

// modulePURL is the package URL of a Go module. Each part of its path is escaped.
func modulePURL(path, version string) string {
	names := strings.Split(path, "/")
	for i := range names {
		names[i] = inPURL(names[i])
	}
	return "pkg:golang/" + strings.Join(names, "/") + "@" + inPURL(version)
}

// addModules adds Go's standard library and the modules.
func (d *document) addModules(build *debug.BuildInfo) {
	goVersion := strings.TrimPrefix(build.GoVersion, "go")
	d.add(theProgram, common.TypeRelationshipDependsOn, &spdx.Package{
		PackageName: "stdlib", PackageSPDXIdentifier: "Go-stdlib", PackageVersion: goVersion, PrimaryPackagePurpose: "LIBRARY",
		PackageLicenseDeclared: "BSD-3-Clause", PackageExternalReferences: locator(modulePURL("stdlib", goVersion)),
	})
	for _, module := range build.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		d.add(theProgram, common.TypeRelationshipDependsOn, &spdx.Package{
			PackageName: module.Path, PackageSPDXIdentifier: element("Go", module.Path), PackageVersion: module.Version, PrimaryPackagePurpose: "LIBRARY",
			PackageLicenseDeclared: unknown, PackageExternalReferences: locator(modulePURL(module.Path, module.Version)),
		})
	}
}

// addDebian adds a package, and its licenses that SPDX lacks.
func (d *document) addDebian(p debianPackage) {
	declared := unknown
	if len(p.Licenses) > 0 {
		declared = strings.Join(p.Licenses, " AND ")
	}
	d.add(theImage, common.TypeRelationshipContains, &spdx.Package{
		PackageName: p.Name, PackageSPDXIdentifier: element("Debian", p.Name), PackageVersion: p.Version, PackageSummary: p.Summary, PackageHomePage: p.Homepage,
		PackageSupplier: &common.Supplier{SupplierType: "Organization", Supplier: "Debian"}, PackageSourceInfo: source(p),
		PackageLicenseDeclared: declared, PackageLicenseComments: "All licenses in /usr/share/doc/" + p.Name + "/copyright; some hold for some of the files only.",
		PackageExternalReferences: locator(fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s&distro=%s", inPURL(p.Name), inPURL(p.Version), p.Architecture, d.distro)),
	})
	for _, id := range identifiers(declared) {
		known := slices.ContainsFunc(d.OtherLicenses, func(l *spdx.OtherLicense) bool { return l.LicenseIdentifier == id })
		if name, own := strings.CutPrefix(id, ownLicense); own && !known {
			d.OtherLicenses = append(d.OtherLicenses, &spdx.OtherLicense{
				LicenseIdentifier: id, LicenseName: name, ExtractedText: "See /usr/share/doc/" + p.Name + "/copyright in the image.",
			})
		}
	}
}

func source(p debianPackage) string {
	if p.Source == "" {
		return ""
	}
	return "built from source package " + p.Source
}

// element is the name of a package within the document.
func element(kind, name string) common.ElementID {
	return common.ElementID(kind + "-" + notName.ReplaceAllString(name, "-"))
}
