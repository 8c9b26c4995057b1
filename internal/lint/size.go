package lint

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// part is a part of the tree with a bound of its size.
type part struct {
	name     string
	patterns []string // packages; a package belongs to the first part that matches
	lines    int      // of code, at most
}

// sizes counts lines by part, and those of tests.
type sizes struct {
	parts []int // as the table of parts
	tests int
}

// sizesOf counts the lines of code: those with a token that is no comment, in files that are not
// generated.
func sizesOf(table []part, all []source) (counted sizes) {
	counted.parts = make([]int, len(table))
	for _, s := range all {
		if ast.IsGenerated(s.syntax) {
			continue
		}
		lines := codeLines(s.text)
		if s.test() {
			counted.tests += lines
			continue
		}
		i := slices.IndexFunc(table, func(r part) bool { return matchesAny(r.patterns, s.packageName()) })
		counted.parts[i] += lines
	}
	return counted
}

// codeLines returns the number of lines with a token that is no comment.
func codeLines(text []byte) (lines int) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, 0) // without comments
	last := 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // it is not in the text
		}
		first := file.Line(pos)
		end := first + strings.Count(literal, "\n")
		lines += end - max(first-1, last)
		last = end
	}
}

// sizeReport returns a line for each part, and the findings: parts that are larger than their bound.
func sizeReport(table []part, tests int, counted sizes) (report, findings []string) {
	check := func(name string, lines, bound int) {
		report = append(report, fmt.Sprintf("%-12s %7d lines, at most %d", name, lines, bound))
		if lines > bound {
			findings = append(findings, fmt.Sprintf("%s has %d lines of code, more than the %d of internal/lint/table.go: "+
				"remove something, or raise the bound and say why in the commit", name, lines, bound))
		}
	}
	all, bound := 0, 0
	for i, r := range table {
		check(r.name, counted.parts[i], r.lines)
		all, bound = all+counted.parts[i], bound+r.lines
	}
	check("all code", all, bound)
	check("tests", counted.tests, tests)
	return report, findings
}
