// Package arch holds the rules of docs/architecture.md as tests: who may import
// whom, what the core may not touch, how long things may be, and what may not be
// written down. It reads the source, it builds nothing. Each rule is shown to
// refuse a bad example, so that none can pass by looking at nothing.
package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// module is the import path of this module.
const module = "sluice"

// source is one parsed Go file of the tree.
type source struct {
	// pkg is its folder relative to the root, such as "internal/model".
	pkg  string
	path string
	test bool
	fset *token.FileSet
	file *ast.File
}

// imports are the paths the file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

// at gives "internal/model/model.go:12" for a place in the file.
func (s source) at(pos token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(pos).Line)
}

// parse makes a source of text, as if it were the file of that path.
func parse(t *testing.T, path, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{pkg: filepath.ToSlash(filepath.Dir(path)), path: path, test: strings.HasSuffix(path, "_test.go"), fset: fset, file: file}
}

// sources are all Go files of the tree.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for path, text := range files(t, ".go") {
		all = append(all, parse(t, path, text))
	}
	if len(all) < 5 {
		t.Fatalf("found only %d Go files: the walk looks in the wrong place", len(all))
	}
	return all
}

// files are the texts of all files whose name ends in suffix, by their path
// relative to the root.
func files(t *testing.T, suffix string) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	texts := map[string]string{}
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skip(entry.Name())
		}
		if entry.Name() == ".git" || !entry.Type().IsRegular() || !strings.HasSuffix(path, suffix) {
			return nil
		}
		text, err := fs.ReadFile(root, path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// skip leaves out what is not part of the source.
func skip(folder string) error {
	switch folder {
	case ".git", ".cache", "dist":
		return fs.SkipDir
	}
	return nil
}

// report fails the test with each violation.
func report(t *testing.T, violations []string) {
	t.Helper()
	for _, v := range violations {
		t.Error(v)
	}
}

// mustRefuse fails if a rule finds nothing wrong with a bad example.
func mustRefuse(t *testing.T, what string, violations []string) {
	t.Helper()
	if len(violations) == 0 {
		t.Errorf("the rule takes %s", what)
	}
}

// mustTake fails if a rule finds something wrong with a good example.
func mustTake(t *testing.T, what string, violations []string) {
	t.Helper()
	if len(violations) != 0 {
		t.Errorf("the rule refuses %s: %v", what, violations)
	}
}
