package lint

import (
	"fmt"
	"go/ast"
	"slices"
)

// policyFindings reports policies that programs could use without sched/registry: then the
// simulator and a jobmaster could have different policies of one name. Each policy must be
// in a package that is restricted to the registry. A policy is a type with a method Decide
// that returns a Plan. The rule works on one file, without types, so it finds a policy
// before any package imports it.
func policyFindings(s source) []string {
	guarded := slices.ContainsFunc(restricted, func(r restriction) bool { return r.module == modulePath+"/"+s.packageName() })
	if guarded {
		return nil
	}
	var findings []string
	for _, decl := range s.syntax.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Decide" && returnsPlan(f) {
			findings = append(findings, fmt.Sprintf("%s: a policy outside of the packages that only sched/registry imports: %s; "+
				"reserve its package in internal/lint/table.go", s.at(f), samePolicyReason))
		}
	}
	return findings
}

// returnsPlan reports whether a function returns a Plan, of sched or of its own package, and
// nothing else. The name is enough: syntax has no types.
func returnsPlan(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	switch result := f.Type.Results.List[0].Type.(type) {
	case *ast.Ident:
		return result.Name == "Plan"
	case *ast.SelectorExpr:
		return result.Sel.Name == "Plan"
	}
	return false
}
