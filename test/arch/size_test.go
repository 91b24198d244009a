package arch

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// The limits of size. They have no exceptions: what is longer holds a concept
// that wants a name of its own.
const (
	maxFunctionLines = 70
	maxBranches      = 12
	maxFileLines     = 400
	maxTemplateLines = 60
)

// oversized finds functions and a file that are too long. Tests are spared:
// their tables may grow.
func oversized(s source) []string {
	if s.test {
		return nil
	}
	var found []string
	if n := s.fset.Position(s.file.FileEnd).Line; n > maxFileLines {
		found = append(found, fmt.Sprintf("%s: %d lines, at most %d", s.path, n, maxFileLines))
	}
	for _, decl := range s.file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
		if lines > maxFunctionLines {
			found = append(found, fmt.Sprintf("%s: %s has %d lines, at most %d", s.at(fn.Pos()), fn.Name.Name, lines, maxFunctionLines))
		}
		if n := branches(fn); n > maxBranches {
			found = append(found, fmt.Sprintf("%s: %s has %d branches, at most %d", s.at(fn.Pos()), fn.Name.Name, n, maxBranches))
		}
	}
	return found
}

// branches counts where a function can go one way or another. The function
// literals within it count for themselves only as far as they branch.
func branches(fn *ast.FuncDecl) int {
	count := 0
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			count++
		case *ast.CaseClause:
			if n.List != nil {
				count++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				count++
			}
		}
		return true
	})
	return count
}

// oversizedTemplate finds a template file that is too long.
func oversizedTemplate(path, text string) []string {
	if n := strings.Count(text, "\n"); n > maxTemplateLines {
		return []string{fmt.Sprintf("%s: %d lines, at most %d", path, n, maxTemplateLines)}
	}
	return nil
}

// oversizedLua finds a module that is too long, and functions at its top level that are. Such
// a function ends with the first "end" at the beginning of a line.
func oversizedLua(path, text string) []string {
	if strings.HasPrefix(path, "test/") {
		return nil
	}
	var found []string
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if n := len(lines); n > maxFileLines {
		found = append(found, fmt.Sprintf("%s: %d lines, at most %d", path, n, maxFileLines))
	}
	begin := 0
	for at, line := range lines {
		switch {
		case strings.HasPrefix(line, "function "), strings.HasPrefix(line, "local function "):
			begin = at
		case line == "end" && at-begin+1 > maxFunctionLines:
			found = append(found, fmt.Sprintf("%s:%d: %d lines, at most %d", path, begin+1, at-begin+1, maxFunctionLines))
		}
	}
	return found
}

func TestNothingIsOversized(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		report(t, oversized(s))
	}
	for path, text := range files(t, ".tmpl") {
		report(t, oversizedTemplate(path, text))
	}
	for path, text := range files(t, ".lua") {
		report(t, oversizedLua(path, text))
	}
}

func TestSizeRuleRefuses(t *testing.T) {
	t.Parallel()
	mustRefuse(t, "a long function", oversized(parse(t, "internal/model/x.go", "package model\nfunc f() {\n"+strings.Repeat("_ = 1\n", 69)+"}\n")))
	mustTake(t, "a function of 70 lines", oversized(parse(t, "internal/model/x.go", "package model\nfunc f() {\n"+strings.Repeat("_ = 1\n", 68)+"}\n")))
	mustRefuse(t, "a long file", oversized(parse(t, "internal/model/x.go", "package model\n"+strings.Repeat("var _ = 1\n", 400))))
	mustRefuse(t, "many branches", oversized(parse(t, "internal/model/x.go", "package model; func f() {"+strings.Repeat("if true { f() };", 13)+"}")))
	mustRefuse(t, "many cases", oversized(parse(t, "internal/model/x.go", "package model; func f(n int) { switch n {"+strings.Repeat("case 1: f(1);", 13)+"}}")))
	mustRefuse(t, "a long template", oversizedTemplate("templates/x.tmpl", strings.Repeat("\n", 61)))
	mustRefuse(t, "a long module of Lua", oversizedLua("rootfs/x.lua", strings.Repeat("\n", 401)))
	mustRefuse(t, "a long function of Lua", oversizedLua("rootfs/x.lua", "\nlocal function f()\n"+strings.Repeat("  f()\n", 69)+"end\n"))
	mustTake(t, "a Lua function of 70 lines", oversizedLua("rootfs/x.lua", "function _M.f()\n"+strings.Repeat("  f()\n", 68)+"end\n"))
	if branches(parse(t, "x.go", "package x; func f() { switch { case true: default: } }").file.Decls[0].(*ast.FuncDecl)) != 1 {
		t.Error("a default is no branch of its own")
	}
}
