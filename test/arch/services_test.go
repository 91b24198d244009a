package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// serviceReaders are the functions of internal/translate that may take a Service or
// its EndpointSlices from the snapshot: look makes backends, and service notes what
// it gives, so that a change of that is no change of endpoints only.
var serviceReaders = []string{"look", "service"}

// unnoted finds other functions that do.
func unnoted(s source) []string {
	if s.test || s.pkg != "internal/translate" {
		return nil
	}
	var found []string
	for _, declared := range s.file.Decls {
		if f, ok := declared.(*ast.FuncDecl); ok && slices.Contains(serviceReaders, f.Name.Name) {
			continue
		}
		ast.Inspect(declared, func(n ast.Node) bool {
			method, ok := n.(*ast.SelectorExpr)
			if !ok || method.Sel.Name != "Service" && method.Sel.Name != "EndpointSlices" {
				return true
			}
			if from, ok := method.X.(*ast.SelectorExpr); ok && from.Sel.Name == "snap" {
				found = append(found, fmt.Sprintf("%s: want translation.service, which notes that the Service decides about more than a backend", s.at(n.Pos())))
			}
			return true
		})
	}
	return found
}

func TestServicesAreNoted(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		report(t, unnoted(s))
	}
}

func TestServicesRuleRefuses(t *testing.T) {
	t.Parallel()
	mustRefuse(t, "a Service", unnoted(parse(t, "internal/translate/x.go", `package translate; func (t *translation) f() { t.snap.Service(name) }`)))
	mustRefuse(t, "EndpointSlices", unnoted(parse(t, "internal/translate/x.go", `package translate; func f(e streamEntry) { read := e.snap.EndpointSlices; read(name) }`)))
	mustTake(t, "the look-up of a backend", unnoted(parse(t, "internal/translate/x.go", `package translate; func (t *translation) look() { t.snap.Service(name) }`)))
	mustTake(t, "the field of a backend", unnoted(parse(t, "internal/translate/x.go", `package translate; func f(b *B) { _ = b.Service }`)))
}
