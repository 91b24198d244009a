package reference

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// book is what the pages are made of, besides the keys.
type book struct {
	// sentences are the first paragraph of each struct's comment, by the name of
	// its type and by each key that it holds.
	sentences map[string]string
	// uses are by "annotation KEY" and "setting KEY", the plainest first.
	uses map[string][]use
}

func readBook(t *testing.T) *book {
	t.Helper()
	return &book{sentences: sentencesOf(t, "annotations", "settings"), uses: usesOf(t)}
}

// sentencesOf reads the source of packages. Keys of one package do not replace
// those of another: they are told apart by the package's name.
func sentencesOf(t *testing.T, packages ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range packages {
		paths, err := filepath.Glob("../../internal/" + name + "/*.go")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no source of %s: %v", name, err)
		}
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, declaration := range file.Decls {
				describeTypes(name+".", declaration, found)
			}
		}
	}
	return found
}

// describeTypes adds the structs of a declaration.
func describeTypes(prefix string, declaration ast.Decl, found map[string]string) {
	general, ok := declaration.(*ast.GenDecl)
	if !ok || general.Doc == nil {
		return
	}
	paragraph, _, _ := strings.Cut(general.Doc.Text(), "\n\n")
	sentence := strings.Join(strings.Fields(paragraph), " ")
	for _, spec := range general.Specs {
		named, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		structure, ok := named.Type.(*ast.StructType)
		if !ok {
			continue
		}
		found[prefix+named.Name.Name] = sentence
		for _, field := range structure.Fields.List {
			if key := keyOf(field); key != "" {
				found[prefix+key] = sentence
			}
		}
	}
}

// keyOf is the key in a field's tag, or "".
func keyOf(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return ""
	}
	return reflect.StructTag(tag).Get("key")
}
