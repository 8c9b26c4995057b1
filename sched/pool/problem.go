package pool

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	File     string
	Line     int
	Found    string
	Expected string
}

func (f Problem) Error() string {
	return fmt.Sprintf("%s:%d: %s; expected %s", f.File, f.Line, f.Found, f.Expected)
}

// Problems are all things that are wrong with a file, by line.
type Problems []Problem

func (f Problems) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap is the faults one by one.
func (f Problems) Unwrap() []error {
	errs := make([]error, len(f))
	for i, fault := range f {
		errs[i] = fault
	}
	return errs
}

func byLine(faults []Problem) []Problem {
	slices.SortStableFunc(faults, func(a, b Problem) int { return a.Line - b.Line })
	return faults
}
