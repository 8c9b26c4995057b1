package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// Snapshot is an immutable copy of a State at one moment. It shares no memory that the state
// changes, so another goroutine may encode it.
//
// A snapshot contains only values that cannot be derived: those with a number in their cbor tags.
// It has no splits; they must be loaded into a restored state again.
type Snapshot struct{ state State }

// Snapshot copies the state. It costs as much as copying all tasks and attempts once.
func (s *State) Snapshot() *Snapshot {
	c := *s
	c.Machines = copied(s.Machines)
	c.Sessions = make(map[string]*session, len(s.Sessions))
	for client, se := range s.Sessions {
		c.Sessions[client] = &session{Newest: se.Newest, At: se.At, Results: maps.Clone(se.Results)}
	}
	c.jobs = copied(s.jobs)
	for _, j := range c.jobs {
		j.unshare()
	}
	return &Snapshot{c}
}

// zeros returns new objects, which are allocated at once.
func zeros[T any](n int) []*T {
	values, objects := make([]T, n), make([]*T, n)
	for i := range values {
		objects[i] = &values[i]
	}
	return objects
}

// copied returns copies of objects.
func copied[T any](objects []*T) []*T {
	copies := zeros[T](len(objects))
	for i, o := range objects {
		*copies[i] = *o
	}
	return copies
}

// Restore returns the copy as a state, in the same way as DecodeSnapshot. The snapshot must not be
// used any more.
func (s *Snapshot) Restore() (*State, error) {
	if err := s.state.index(); err != nil {
		return nil, fmt.Errorf("cluster: snapshot of no possible state: %w", err)
	}
	return &s.state, nil
}

// unshare copies what a copied job shares with the original, except for two kinds of values:
// slices to which the job only appends, and values that the job replaces as a whole.
func (j *Job) unshare() {
	j.splits, j.loaded = nil, false
	j.Failures, j.CounterNames = slices.Clip(j.Failures), slices.Clip(j.CounterNames)
	j.Stages, j.Bundles = copied(j.Stages), copied(j.Bundles)
	for _, stage := range j.Stages {
		stage.CombineSets = slices.Clone(stage.CombineSets)
		stage.unshareTasks()
	}
}

// unshareTasks allocates the attempts of all tasks at once.
func (s *Stage) unshareTasks() {
	s.Tasks = copied(s.Tasks)
	count := 0
	for _, t := range s.Tasks {
		count += len(t.Attempts)
	}
	attempts := zeros[Attempt](count)
	for _, t := range s.Tasks {
		n := len(t.Attempts)
		for i, a := range t.Attempts {
			*attempts[i] = *a
		}
		t.Attempts, attempts, t.Skip = attempts[:n:n], attempts[n:], slices.Clip(t.Skip)
	}
}
