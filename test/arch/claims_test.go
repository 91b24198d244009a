package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// sourceless are the packages behind the sources of claims: they know claims and their
// owners, and no object of Kubernetes.
var sourceless = []string{"internal/claim", "internal/assemble"}

// objectsKnown finds what these know of objects: libraries of Kubernetes, and the
// snapshot besides the names of its objects.
func objectsKnown(s source) []string {
	if s.test || !slices.Contains(sourceless, s.pkg) {
		return nil
	}
	var found []string
	for _, path := range s.imports() {
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			found = append(found, fmt.Sprintf("%s: imports %s; it may know claims and the standard library only", s.path, path))
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if of, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := of.X.(*ast.Ident); ok && from.Name == "snapshot" && of.Sel.Name != "Name" {
				found = append(found, fmt.Sprintf("%s: snapshot.%s; it may know names of objects only", s.at(of.Pos()), of.Sel.Name))
			}
		}
		return true
	})
	return found
}

func TestAssemblerKnowsNoObjects(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, s := range sources(t) {
		if !s.test && slices.Contains(sourceless, s.pkg) {
			looked++
		}
		report(t, objectsKnown(s))
	}
	if looked == 0 {
		t.Errorf("there is no file in %v", sourceless)
	}
}

func TestAssemblerRuleRefuses(t *testing.T) {
	t.Parallel()
	mustRefuse(t, "an Ingress", objectsKnown(parse(t, "internal/assemble/x.go", `package assemble; import networkingv1 "k8s.io/api/networking/v1"`)))
	mustRefuse(t, "a Service among claims", objectsKnown(parse(t, "internal/claim/x.go", `package claim; import corev1 "k8s.io/api/core/v1"`)))
	mustRefuse(t, "the snapshot", objectsKnown(parse(t, "internal/assemble/x.go", `package assemble; import "sluice/internal/snapshot"; func f(s *snapshot.Snapshot) {}`)))
	mustTake(t, "the name of a Service", objectsKnown(parse(t, "internal/assemble/x.go", `package assemble; import "sluice/internal/snapshot"; func f(n snapshot.Name) {}`)))
	mustTake(t, "the source of Ingresses", objectsKnown(parse(t, "internal/translate/x.go", `package translate; import networkingv1 "k8s.io/api/networking/v1"`)))
}
