// Package templates holds the templates of nginx.conf. Package render loads
// them, or a folder of the same layout that replaces them.
//
// The files at the top lay out the file, its servers and its locations. Their data
// are the views of package render. settings/ has a file for each group of the
// ConfigMap, and behaviour/ one for each behaviour; their templates are named
// "<group or behaviour>/<context>", and their data is that of the model.Block.
package templates

import (
	"embed"
	"io/fs"
	"regexp"
)

// Files are all templates, by their path in this folder.
//
//go:embed *.tmpl behaviour/*.tmpl settings/*.tmpl
var Files embed.FS

var define = regexp.MustCompile(`{{-? *define "([^"]+)"`)

// Names are the names of all templates in Files.
func Names() map[string]bool {
	names := map[string]bool{}
	_ = fs.WalkDir(Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Files, path)
		for _, found := range define.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
		return err // always nil: the files are embedded
	})
	return names
}
