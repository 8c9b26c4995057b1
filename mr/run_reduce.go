package mr

import (
	"fmt"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// RunReduce implements task.Program: it calls the reducer for each key group.
func (j *Job[K, V, KO, VO]) RunReduce(r *task.Reduce) error {
	groups, err := r.Groups(j.groupPrefix())
	if err != nil || groups == nil {
		return err
	}
	t, err := newTask(r.Attempt, j.config)
	if err != nil {
		return err
	}
	out, err := openOutput(t, j.output, task.MainOutput)
	if err != nil {
		return err
	}
	defer func() { r.Counters.Add(counter.ReduceOutputRecords, out.count) }()
	reducer := instance(j.reducer)
	if err := setUp(t, r.Attempt, reducer, r.OnPause); err != nil {
		return err
	}
	g := &groupLoop[K, V, KO, VO]{job: j, task: t, reduce: r, groups: groups, reducer: reducer, out: out}
	paused, err := g.run()
	if err != nil || paused {
		return err
	}
	if err := closeUser(t, reducer, out); err != nil {
		return err
	}
	return out.error()
}

// groupLoop hands the groups of one partition to the user's reducer.
type groupLoop[K, V, KO, VO any] struct {
	job     *Job[K, V, KO, VO]
	task    *Task
	reduce  *task.Reduce
	groups  *shuffle.Groups
	reducer Reducer[K, V, KO, VO]
	out     *writer[KO, VO]

	decoding error // of a value; ends the group and the attempt
}

func (g *groupLoop[K, V, KO, VO]) run() (paused bool, err error) {
	values, brake := g.values, newBrake(g.task)
	for {
		if g.reduce.Signalled() {
			if act, err := g.reduce.Attend(); act == task.Stop {
				return true, err
			}
		}
		if !g.groups.NextGroup() {
			return false, g.groups.Err()
		}
		if err := brake.record(); err != nil {
			return false, err
		}
		key, err := g.job.keys.Decode(g.groups.Key())
		if err != nil {
			return false, fmt.Errorf("decoding a key: %w", err)
		}
		if err := g.reducer.Reduce(g.task, key, values, g.out); err != nil {
			return false, err
		}
		if err := g.fault(); err != nil {
			return false, err
		}
		g.reduce.CountGroup()
	}
}

// values ranges over the values of the present group.
func (g *groupLoop[K, V, KO, VO]) values(yield func(V) bool) {
	for g.groups.NextValue() {
		if g.reduce.Signalled() {
			g.reduce.Sample()
		}
		v, err := g.job.values.Decode(g.groups.Value())
		if err != nil {
			g.decoding = fmt.Errorf("decoding a value: %w", err)
			return
		}
		if !yield(v) {
			return
		}
	}
}

// fault is what went wrong behind the reducer's back.
func (g *groupLoop[K, V, KO, VO]) fault() error {
	if g.decoding != nil {
		return g.decoding
	}
	if err := g.groups.Err(); err != nil {
		return err
	}
	return g.out.error()
}
