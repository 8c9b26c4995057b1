package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// mentioned are the strings that code has, tests left out: as literals, or as
// constants of a package that it names. Files of that package with declarations do
// not count. A property that is not among the strings is read by no code.
func mentioned(all []source, pkg string, declarations ...string) map[string]bool {
	constants := make(map[string]string) // of pkg, to their values
	for _, s := range all {
		if s.packageName() == pkg && !s.test() {
			addConstants(s, constants)
		}
	}
	found := make(map[string]bool)
	for _, s := range all {
		if s.test() || slices.Contains(declarations, s.path) {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					found[text] = true
				}
			case *ast.SelectorExpr:
				if value, ok := constants[n.Sel.Name]; ok && s.imports(modulePath+"/"+pkg) {
					found[value] = true
				}
			}
			return true
		})
	}
	return found
}

// addConstants adds the string constants of a file.
func addConstants(s source, constants map[string]string) {
	for _, decl := range s.syntax.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			values := spec.(*ast.ValueSpec)
			for i, name := range values.Names {
				if i >= len(values.Values) {
					continue
				}
				if lit, ok := values.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						constants[name.Name] = text
					}
				}
			}
		}
	}
}
