package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherPlatformsTypeCheck: the plugin and all that it imports have types that agree on the
// systems that are not those of the developers. To compile them takes some minutes of a
// processor more, and finds nothing more of Go code. Functions of other modules, which their
// own authors compile, are looked at without their bodies.
func TestOtherPlatformsTypeCheck(t *testing.T) {
	t.Parallel()
	ours, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"windows", "darwin"} {
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.LoadAllSyntax, Dir: ours, Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH=amd64"),
			ParseFile: func(files *token.FileSet, path string, text []byte) (*ast.File, error) {
				file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
				if file != nil && !strings.HasPrefix(path, ours) {
					withoutBodies(file)
				}
				return file, err
			},
		}, "sluice/cmd/kubectl-sluice")
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		packages.Visit(loaded, nil, func(p *packages.Package) {
			checked++
			for _, wrong := range p.Errors {
				if ownModule := p.Module != nil && p.Module.Main; ownModule || !ofBodies.MatchString(wrong.Msg) {
					t.Errorf("%s: %v", system, wrong)
				}
			}
		})
		if checked < 100 {
			t.Errorf("%s: only %d packages were checked", system, checked)
		}
	}
}

// ofBodies are the errors of functions without bodies.
var ofBodies = regexp.MustCompile(`imported (as \w+ )?and not used|(missing function|must have a) body`)

// withoutBodies takes the bodies of functions away.
func withoutBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
