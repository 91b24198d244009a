package arch

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// modelFaults finds what the model may not know: anything but the standard
// library, and maps, whose order would reach nginx.conf.
func modelFaults(s source) []string {
	if s.test || s.pkg != "internal/model" {
		return nil
	}
	var found []string
	for _, path := range s.imports() {
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") || first == module {
			found = append(found, fmt.Sprintf("%s: the model imports %s; it may know the standard library only", s.path, path))
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			found = append(found, mapsIn(s, spec)...)
		}
		return true
	})
	return found
}

// mapsIn finds map types within the declaration of a type.
func mapsIn(s source, spec *ast.TypeSpec) []string {
	var found []string
	ast.Inspect(spec, func(n ast.Node) bool {
		if m, ok := n.(*ast.MapType); ok {
			found = append(found, fmt.Sprintf("%s: %s holds a map; equal values could print different bytes", s.at(m.Pos()), spec.Name.Name))
		}
		return true
	})
	return found
}

func TestModelIsPlain(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, s := range sources(t) {
		if s.pkg == "internal/model" && !s.test {
			looked++
		}
		report(t, modelFaults(s))
	}
	if looked == 0 {
		t.Error("there is no file in internal/model")
	}
}

func TestModelRuleRefuses(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		"a Kubernetes type":  `package model; import _ "k8s.io/api/core/v1"`,
		"a map":              `package model; type Server struct{ Locations map[string]int }`,
		"a map further down": `package model; type Server struct{ Locations []struct{ By *map[string]int } }`,
	}
	for what, text := range bad {
		mustRefuse(t, what, modelFaults(parse(t, "internal/model/x.go", text)))
	}
	mustTake(t, "a slice", modelFaults(parse(t, "internal/model/x.go", `package model; import "slices"; type Server struct{ Locations []int }; var _ = slices.Max([]int{1})`)))
}
