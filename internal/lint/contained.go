package lint

import (
	"go/ast"
	"slices"
)

// containedFindings reports calls of cluster.State.Apply in programs. Everything that applies entries of a log calls
// ApplyContained instead: an entry that panics must have the same effect on a master that runs, replays or recovers
// the log, and in the simulator. The rule works on one file, without types: in a file that imports cluster, a method
// Apply of one argument is that of the state.
func containedFindings(s source) []string {
	if s.packageName() == "cluster" || !slices.ContainsFunc(s.syntax.Imports, func(spec *ast.ImportSpec) bool {
		path, _ := unquoted(spec.Path)
		return path == modulePath+"/cluster"
	}) {
		return nil
	}
	var findings []string
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Apply" {
			findings = append(findings, s.at(n)+": a panic in Apply would not cost its job only: call ApplyContained")
		}
		return true
	})
	return findings
}
