// Package pattern compiles regular expressions at their first use. At package level, regexp.MustCompile would
// make each start of a program slower, also of the processes of tasks.
//
//	var jobID = pattern.New(`^job_\d+_\d{4,}$`)
//	jobID().MatchString(id)
package pattern

import (
	"regexp"
	"sync"
)

// New returns a function that compiles an expression once and panics if the expression is malformed.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
