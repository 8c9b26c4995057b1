package pool

import (
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	File     string
	Line     int
	Found    string
	Expected string
}

func (f Fault) Error() string {
	return fmt.Sprintf("%s:%d: %s; expected %s", f.File, f.Line, f.Found, f.Expected)
}

// Faults are all things that are wrong with a file, by line.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap is the faults one by one.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, fault := range f {
		errs[i] = fault
	}
	return errs
}

func byLine(faults []Fault) []Fault {
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
	return faults
}
