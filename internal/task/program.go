package task

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/dag"
)

// Program is the user's code of one job as attempts run it. Several attempts
// may run at once.
type Program interface {
	// RunNode runs one Node: it reads the Node's inputs, calls the user's functions,
	// and writes what they emit. The Nodes of an attempt run concurrently, each in its
	// own goroutine.
	RunNode(n *NodeRun) error
}

// Programs maps the names of jobs to their code: what one binary can run.
type Programs map[string]Program

// find returns the named program, or an error that lists the known ones.
func (p Programs) find(name string) (Program, error) {
	if prog, ok := p[name]; ok {
		return prog, nil
	}
	return nil, &FatalError{Err: fmt.Errorf("job %q is not in this binary, which has: %s", name, strings.Join(slices.Sorted(maps.Keys(p)), ", "))}
}

// Action is how the record loop continues.
type Action int

const (
	// Continue continues with the current record.
	Continue Action = iota
	// Stop ends the loop before the current record. What was emitted so far is
	// published.
	Stop
)

// FatalError marks an error that a retry cannot help: it fails the job at once.
type FatalError struct{ Err error }

func (e *FatalError) Error() string { return e.Err.Error() }
func (e *FatalError) Unwrap() error { return e.Err }

// RecordError is an error or panic in the user's code while it worked on one
// record.
type RecordError struct {
	Err    error
	Stack  string        // stack of a panic; empty for a returned error
	Input  string        // full name of the input file, "" if unknown
	Offset int64         // byte offset of the record, -1 if unknown
	Record *dag.Position // where the record begins, if skipping it would help
}

func (e *RecordError) Error() string { return e.Err.Error() }
func (e *RecordError) Unwrap() error { return e.Err }

// LostOutputError says that the output of a finished attempt cannot be read: its task
// has to run again.
type LostOutputError struct {
	Attempt string
	Err     error
}

func (e *LostOutputError) Error() string {
	return fmt.Sprintf("output of attempt %s unreadable: %v", e.Attempt, e.Err)
}
func (e *LostOutputError) Unwrap() error { return e.Err }

// errKilled ends an attempt that was ordered to end.
var errKilled = errors.New("task: killed")
