package lint

import (
	"fmt"
	"slices"
	"strings"
)

// pkg is a package in the output of `go list -json`. It has only the fields that rules need.
type pkg struct {
	// Fields that `go list -json` sets, with the same names.
	ImportPath string
	Dir        string
	Imports    []string // of the package without its tests
	Deps       []string // direct and indirect
	Doc        string
	GoFiles    []string
	// nil if the package loads.
	Error *struct{ Err string }
}

// name returns the package's path in the module; "." for the module's root.
func (p pkg) name() string { return localName(p.ImportPath) }

// localName returns an import path without the module; "." for the module's root.
func localName(importPath string) string {
	if importPath == modulePath {
		return "."
	}
	return strings.TrimPrefix(importPath, modulePath+"/")
}

// inModule reports whether a package is one of this module.
func inModule(importPath string) bool {
	return importPath == modulePath || strings.HasPrefix(importPath, modulePath+"/")
}

// matches reports whether a pattern of the table covers a package. "a/..." covers all
// packages below a but not a itself; "..." covers everything.
func matches(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(name, root+"/")
	}
	return pattern == name
}

// matchesAny reports whether one of the patterns covers a package.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// rowOf returns the most specific row for a package: its own row, else the row with the
// longest pattern. So a row for a group of packages can have exceptions.
func rowOf(table []row, name string) (best row, ok bool) {
	for _, r := range table {
		// A package's own row wins over any pattern.
		if r.pattern == name {
			return r, true
		}
		if matches(r.pattern, name) && len(r.pattern) > len(best.pattern) {
			best, ok = r, true
		}
	}
	return best, ok
}

// importFindings compares the imports of a package with the table. Tests are left out: they
// may import any package. A package without a row is a finding, so that the table has a
// decision for each new one.
func importFindings(table []row, p pkg) []string {
	r, ok := rowOf(table, p.name())
	if !ok {
		return []string{fmt.Sprintf("package %s is in no row of the import table; add one to internal/lint/table.go "+
			"that names what it may import", p.name())}
	}
	var findings []string
	for _, path := range p.Imports {
		// The table lists only packages of this module. The rules restricted and purity
		// limit imports of the standard library and of other modules.
		if inModule(path) && !matchesAny(r.imports, localName(path)) {
			findings = append(findings, fmt.Sprintf("package %s imports %s, which its row %q does not allow (it allows %s)",
				p.name(), localName(path), r.pattern, orNothing(r.imports)))
		}
	}
	return findings
}

// orNothing lists patterns for a finding.
func orNothing(patterns []string) string {
	if len(patterns) == 0 {
		return "nothing of the module"
	}
	return strings.Join(patterns, ", ")
}

// within reports whether a package is in a module or below a path. A module's siblings with a
// dash count too: raft-boltdb is restricted with raft.
func within(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/") || strings.HasPrefix(importPath, root+"-")
}

// restrictedFindings reports imports that only other packages may have: modules that one
// package wraps, and policies, which are made by name.
func restrictedFindings(p pkg) []string {
	var findings []string
	for _, r := range restricted {
		for _, path := range p.Imports {
			if within(path, r.module) && !matchesAny(r.only, p.name()) {
				findings = append(findings, fmt.Sprintf("package %s imports %s, which only %s may: %s",
					p.name(), path, strings.Join(r.only, ", "), r.why))
			}
		}
	}
	return findings
}

// linkFindings reports packages that a program must not link. Deps has indirect imports too,
// so a package in between does not evade a rule. One rule limits the size of users'
// programs, the other keeps the programming interface out of the daemons.
func linkFindings(p pkg) []string {
	var findings []string
	for _, rule := range unlinked {
		// By name, or because it depends on the package that the rule names.
		covered := matchesAny(rule.programs, p.name()) ||
			rule.importing != "" && slices.Contains(p.Deps, modulePath+"/"+rule.importing)
		if !covered || matchesAny(rule.except, p.name()) {
			continue
		}
		for _, dep := range p.Deps {
			if slices.ContainsFunc(rule.banned, func(b string) bool { return within(dep, b) }) {
				findings = append(findings, fmt.Sprintf("package %s links %s: %s (see `go list -deps ./%s`)",
					p.name(), dep, rule.why, p.name()))
			}
		}
	}
	return findings
}
