package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
)

// Limits. A typical file or function has a third of these sizes.
const (
	maxFileLines     = 500
	maxFunctionLines = 80
)

// unfinished matches marks of unfinished work. The project has no such marks: it does the
// work or files an issue.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// styleFindings reports violations of the house style in one file, test or not. It skips
// generated files, because they are not edited.
func styleFindings(s source) []string {
	if ast.IsGenerated(s.syntax) {
		return nil
	}
	return slices.Concat(sizeFindings(s), markFindings(s), sleepFindings(s), serverFindings(s), patternFindings(s))
}

// sizeFindings reports files and functions that are too long to be read at once.
func sizeFindings(s source) []string {
	var findings []string
	if n := s.line(s.syntax.FileEnd); n > maxFileLines {
		findings = append(findings, fmt.Sprintf("%s: %d lines in a file, %d are allowed; split it by what it does",
			s.path, n, maxFileLines))
	}
	for _, decl := range s.syntax.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := s.line(f.End()) - s.line(f.Pos()) + 1; n > maxFunctionLines {
			findings = append(findings, fmt.Sprintf("%s: %d lines in function %s, %d are allowed; take steps out of it",
				s.at(f), n, f.Name.Name, maxFunctionLines))
		}
	}
	return findings
}

// markFindings reports marks of unfinished work in comments; strings may have them.
func markFindings(s source) []string {
	var findings []string
	for _, group := range s.syntax.Comments {
		for _, c := range group.List {
			if mark := unfinished.FindString(c.Text); mark != "" {
				findings = append(findings, fmt.Sprintf("%s: %s in a comment; do the work, or file an issue and say "+
					"here what holds now", s.at(c), mark))
			}
		}
	}
	return findings
}

// sleepFindings reports tests that sleep. Such tests are slow if all is well, and wrong on a
// busy machine. In a synctest bubble time is virtual, so files that import synctest may
// sleep.
func sleepFindings(s source) []string {
	if !s.test() || s.imports("testing/synctest") {
		return nil
	}
	var findings []string
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if selects(n, "time", "Sleep") {
			findings = append(findings, s.at(n)+": time.Sleep in a test; wait for the event itself, or use testing/synctest")
		}
		return true
	})
	return findings
}

// serverFindings reports HTTP servers that package httpserver has not made, so that they may lack its
// bounds. Tests may make their own.
func serverFindings(s source) []string {
	if s.test() || s.packageName() == "internal/rpc/httpserver" {
		return nil
	}
	var findings []string
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		var made ast.Expr
		switch n := n.(type) {
		case *ast.CompositeLit:
			made = n.Type
		case *ast.CallExpr:
			made = n.Fun
		}
		if selects(made, "http", "Server", "Serve", "ListenAndServe", "ServeTLS", "ListenAndServeTLS") {
			findings = append(findings, s.at(n)+": an HTTP server without bounds; make it with httpserver.New")
		}
		return true
	})
	return findings
}

// patternFindings reports regular expressions that are compiled before main, in each start of each program.
func patternFindings(s source) []string {
	if s.test() || matchesAny(testHelpers, s.packageName()) {
		return nil
	}
	var findings []string
	for _, decl := range s.syntax.Decls {
		vars, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		ast.Inspect(vars, func(n ast.Node) bool {
			if _, later := n.(*ast.FuncLit); later {
				return false
			}
			if selects(n, "regexp", "MustCompile") {
				findings = append(findings, s.at(n)+": a regular expression is compiled before main; compile it at its first use with pattern.New")
			}
			return true
		})
	}
	return findings
}

// selects reports whether a node is one of some names of a package, as in time.Sleep.
func selects(n ast.Node, pkg string, names ...string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || !slices.Contains(names, sel.Sel.Name) {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// docFindings reports packages without a doc comment. It skips directories that have only
// tests, because no other package can import them.
func docFindings(p pkg) []string {
	if p.Doc != "" || len(p.GoFiles) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("package %s has no doc comment; say in doc.go what it is, what its callers owe it "+
		"and how it is used", p.name())}
}

// imports reports whether the file imports a path.
func (s source) imports(path string) bool {
	return slices.ContainsFunc(s.syntax.Imports, func(spec *ast.ImportSpec) bool {
		got, _ := unquoted(spec.Path)
		return got == path
	})
}
