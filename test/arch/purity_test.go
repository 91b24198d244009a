package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// core are the packages between the snapshot and the outputs: values in, values
// out.
var core = []string{
	"internal/model", "internal/giveway", "internal/pcre", "internal/nearby", "internal/syntax", "internal/tokens", "internal/snippets", "internal/snapshot", "internal/manifest/decode", "internal/keys", "internal/annotations", "internal/settings",
	"internal/claim", "internal/assemble", "internal/translate", "internal/route", "internal/guard", "internal/render", "internal/explain", "internal/lint", "internal/admission", "internal/compare", "internal/debugapi", "internal/quarantine", "internal/sift", "internal/healthcheck", "templates", "internal/diff", "internal/migrate", "docs", "charts",
}

// worldly are packages that touch the world: the file system, the network,
// processes, logs, chance. net/netip and net/url only compute.
var worldly = []string{
	"os", "os/exec", "os/signal", "io/ioutil", "syscall", "net", "net/http", "net/http/httputil", "crypto/tls", "log", "log/slog",
	"math/rand", "math/rand/v2", "crypto/rand", "github.com/fsnotify/fsnotify", "github.com/miekg/dns", "k8s.io/klog/v2",
}

// clocks are the identifiers of package time that read or wait for the clock.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}

// impurities finds what the core may not do in a file of the core.
func impurities(s source) []string {
	if s.test || !slices.Contains(core, s.pkg) {
		return nil
	}
	var found []string
	clockNames := map[string]bool{}
	for _, spec := range s.file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if slices.Contains(worldly, imported) {
			found = append(found, fmt.Sprintf("%s: the core may not import %s", s.path, imported))
		}
		if imported == "runtime" && s.pkg != "internal/giveway" {
			found = append(found, fmt.Sprintf("%s: the core gives way by package giveway only", s.path))
		}
		if imported == "time" || imported == "k8s.io/apimachinery/pkg/apis/meta/v1" {
			name := path.Base(imported)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			clockNames[name] = true
		}
	}
	return append(found, restless(s, clockNames)...)
}

// restless finds goroutines and looks at the clock.
func restless(s source, clockNames map[string]bool) []string {
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, fmt.Sprintf("%s: the core starts no goroutine", s.at(n.Pos())))
		case *ast.SelectorExpr:
			if from, ok := n.X.(*ast.Ident); ok && clockNames[from.Name] && slices.Contains(clocks, n.Sel.Name) {
				found = append(found, fmt.Sprintf("%s: the core does not look at the clock (%s.%s)", s.at(n.Pos()), from.Name, n.Sel.Name))
			}
		}
		return true
	})
	return found
}

func TestCoreIsPure(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		report(t, impurities(s))
	}
}

func TestPurityRuleRefuses(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		"reading a file":       `package render; import "os"`,
		"a log":                `package render; import "log/slog"`,
		"chance":               `package render; import "math/rand/v2"`,
		"giving way":           `package render; import "runtime"`,
		"a goroutine":          `package render; func f() { go f() }`,
		"the clock":            `package render; import "time"; var t = time.Now()`,
		"the clock by another": `package render; import clock "time"; func f() { clock.Sleep(1) }`,
		"the clock of the API": `package render; import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"; var t = metav1.Now()`,
	}
	for what, text := range bad {
		mustRefuse(t, what, impurities(parse(t, "internal/render/x.go", text)))
	}
	mustTake(t, "a duration", impurities(parse(t, "internal/render/x.go", `package render; import "time"; const d = time.Second`)))
	mustTake(t, "the shell reading a file", impurities(parse(t, "internal/nginx/x.go", `package nginx; import "os"`)))
}
