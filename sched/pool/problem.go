package pool

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one error or warning about a file.
type Problem struct {
	File     string
	Line     int
	Found    string
	Expected string
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d: %s; expected %s", p.File, p.Line, p.Found, p.Expected)
}

// Problems is all errors of a file, by line.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems one by one.
func (p Problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}

func byLine(faults []Problem) []Problem {
	slices.SortStableFunc(faults, func(a, b Problem) int { return a.Line - b.Line })
	return faults
}
