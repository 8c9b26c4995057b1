package lint

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// impureImports are packages whose import breaks purity, each with the packages below it:
// I/O, randomness, locks, and packages that depend on the machine or the process.
var impureImports = []string{
	"crypto/rand", "hash/maphash", "io/ioutil", "log", "math/rand", "net", "os", "plugin", "runtime", "sync",
	"syscall", "testing", "unsafe",
}

// pureModules are the only foreign modules that the core may import: a hash function and two
// codecs, which are functions of their input.
var pureModules = []string{"github.com/cespare/xxhash/v2", "github.com/fxamacker/cbor/v2", "google.golang.org/protobuf"}

// impureFunctions are impure functions of otherwise pure packages: they read a clock, the
// terminal or the file system, or start a timer.
var impureFunctions = map[string][]string{
	"time":          {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
	"fmt":           {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"path/filepath": {"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"},
	"context":       {"WithTimeout", "WithDeadline", "AfterFunc"},
}

// purityFindings reports I/O, clocks, goroutines, randomness, locks and logs in a file of
// the core. It finds most of these by their imports. It finds channels, and impure calls of
// otherwise pure packages, in the syntax. A pure core makes the same decisions from the same
// inputs in a jobmaster, after a failover and in the simulator.
func purityFindings(s source) []string {
	var findings []string
	add := func(n ast.Node, format string, args ...any) {
		findings = append(findings, s.at(n)+": the core is pure: "+fmt.Sprintf(format, args...))
	}
	names := make(map[string]string) // local name of an import → its path
	for _, spec := range s.syntax.Imports {
		path, _ := unquoted(spec.Path)
		names[importName(spec, path)] = path
		if impureImport(path) {
			add(spec, "it does not import %s; what that yields comes in as a value", path)
		}
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n, "it starts no goroutine")
		case *ast.SelectStmt:
			add(n, "it waits for no channel")
		case *ast.ChanType:
			add(n, "it has no channels; events come in as values")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impureFunctions[names[x.Name]], n.Sel.Name) {
				add(n, "it does not call %s.%s; what that yields comes in as a value", x.Name, n.Sel.Name)
			}
		}
		return true
	})
	return findings
}

// impureImport reports whether an import breaks purity: a listed package of the standard
// library, or a foreign module that is not listed.
func impureImport(path string) bool {
	if slices.ContainsFunc(impureImports, func(root string) bool { return matchesAny([]string{root, root + "/..."}, path) }) {
		return true
	}
	first, _, _ := strings.Cut(path, "/")
	foreign := strings.Contains(first, ".") && !inModule(path)
	return foreign && !slices.ContainsFunc(pureModules, func(m string) bool { return within(path, m) })
}

// importName returns the name of an import in its file.
func importName(spec *ast.ImportSpec, path string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path[strings.LastIndex(path, "/")+1:]
}
