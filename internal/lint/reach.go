package lint

import (
	"fmt"
	"slices"
	"strings"
)

// reachFindings compares what a program links with its row of the table reached: each module of others, by
// module, and no helper of tests. A module that the program no longer links is a finding too, so that the table
// is what the program carries.
func reachFindings(table []reach, p pkg) (findings []string) {
	i := slices.IndexFunc(table, func(r reach) bool { return r.program == p.name() })
	if i < 0 {
		return nil
	}
	used := make(map[string]bool)
	for _, dep := range p.Deps {
		switch {
		case inModule(dep):
			if name := localName(dep); matchesAny(testHelpers, name) {
				findings = append(findings, fmt.Sprintf("%s links %s, which is for tests only", p.name(), name))
			}
		case strings.Contains(strings.Split(dep, "/")[0], "."):
			module := moduleOf(table[i].modules, dep)
			used[module] = true
			if module == "" {
				findings = append(findings, fmt.Sprintf("%s links %s: everybody who builds or starts it pays for that. "+
					"If it is worth it, add the module to its row in internal/lint/table.go", p.name(), dep))
			}
		}
	}
	for _, module := range table[i].modules {
		if !used[module] {
			findings = append(findings, fmt.Sprintf("%s no longer links %s: remove it from its row in internal/lint/table.go", p.name(), module))
		}
	}
	if len(p.Deps) > table[i].packages {
		findings = append(findings, fmt.Sprintf("%s links %d packages, more than the %d of its row in internal/lint/table.go", p.name(), len(p.Deps), table[i].packages))
	}
	return findings
}

// moduleOf returns the module of a list that contains a package, or "".
func moduleOf(modules []string, importPath string) string {
	for _, m := range modules {
		if importPath == m || strings.HasPrefix(importPath, m+"/") {
			return m
		}
	}
	return ""
}
