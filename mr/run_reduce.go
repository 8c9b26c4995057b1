package mr

import (
	"fmt"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// reduceAll calls the reducer for each key group. It first waits for the outputs of all maps.
// groups is nil if the attempt was checkpointed while it waited; the next attempt then
// continues to copy.
func (j *Job[K, V, KO, VO]) reduceAll(r *task.Reduce) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	groups, err := r.Groups(groupPrefix(&j.route))
	if err != nil || groups == nil {
		return err
	}
	t, err := newTask(r.Node, j.config, j.named)
	if err != nil {
		return err
	}
	out, err := openOutput(t, j.output, task.MainOutput)
	if err != nil {
		return err
	}
	defer func() { r.Node.Attempt.Counters.Add(counter.ReduceOutputRecords, out.count) }()
	reducer := reducerInstance(j.reducer, j.route.values)
	if err := setUp[KO, VO](t, reducer); err != nil {
		return err
	}
	g := &groupLoop[K, V, KO, VO]{
		task: t, attempt: r, key: j.route.keys.Decode, value: j.route.values.Decode,
		groups: groups, reducer: reducer, out: out, outErr: out.error,
	}
	paused, err := g.run()
	if err != nil || paused {
		return err
	}
	if err := closeUser(t, reducer, out); err != nil {
		return err
	}
	return out.error()
}

// groupAttempt has the methods of an attempt that the group loop calls. The loop looks for
// signals through the Node itself, because that call is inlined, and calls PollSignals and
// PollProgress only if there is a signal.
type groupAttempt interface {
	PollSignals() (task.Action, error)
	PollProgress()
	CountGroup()
}

// groupLoop passes groups of equal keys to the user's reducer.
// A checkpoint can begin only between two groups, where the reducer has no half-read values.
// Progress is reported between values too, since a group may be very long.
type groupLoop[K, V, KO, VO any] struct {
	task    *Task
	attempt groupAttempt
	key     func(encoded []byte) (K, error)
	value   func(encoded []byte) (V, error)
	groups  *shuffle.Groups
	reducer Reducer[K, V, KO, VO]
	out     Emitter[KO, VO]
	outErr  func() error // returns the first error of writing what out emits

	watch     task.SignalFlag
	ended     bool           // no more values of the group may be asked for
	decodeErr error          // error of decoding a value; ends the attempt
	lent      *poison.Lender // lends the current value
}

// run reduces all groups. It reports whether it was stopped before the last group.
func (g *groupLoop[K, V, KO, VO]) run() (paused bool, err error) {
	values, brake := g.values, newThrottle(g.task)
	lentKey := g.task.lender()
	defer lentKey.End()
	g.lent, g.key = g.task.lender(), lending(lentKey, g.key)
	g.value = lending(g.lent, g.value)
	g.watch = g.task.node.SignalFlag()
	for {
		if g.watch.Signalled() {
			if act, err := g.attempt.PollSignals(); act == task.Stop {
				return true, err
			}
		}
		if !g.groups.NextGroup() {
			return false, g.groups.Err()
		}
		if err := brake.record(); err != nil {
			return false, err
		}
		key, err := g.key(g.groups.Key())
		if err != nil {
			return false, fmt.Errorf("decoding a key: %w", err)
		}
		g.ended = false
		if err := g.reducer.Reduce(g.task, key, values, g.out); err != nil {
			return false, err
		}
		g.ended = true
		if err := g.err(); err != nil {
			return false, err
		}
		g.attempt.CountGroup()
	}
}

// rangedAgain returns the error of user code that asks for values which are not there any more.
// Without it, the code would find none and compute with that.
func rangedAgain(t *Task, what string) error {
	return &task.FatalError{Err: fmt.Errorf("stage %q ranges over the %s of a key again after their end; keep what it needs in the first range", t.Stage(), what)}
}

// values ranges over the values of the current group, from the value after the last one that was
// taken. It panics if an earlier range reached the end.
func (g *groupLoop[K, V, KO, VO]) values(yield func(V) bool) {
	if g.ended {
		g.decodeErr = rangedAgain(g.task, "values")
		panic(thrown{g.decodeErr})
	}
	for g.groups.NextValue() {
		if g.watch.Signalled() {
			g.attempt.PollProgress()
		}
		v, err := g.value(g.groups.Value())
		if err != nil {
			g.decodeErr = fmt.Errorf("decoding a value: %w", err)
			return
		}
		if !yield(v) {
			return
		}
	}
	g.lent.End()
	g.ended = true
}

// err returns an error of decoding, reading or writing, which the reducer cannot see.
func (g *groupLoop[K, V, KO, VO]) err() error {
	if g.decodeErr != nil {
		return g.decodeErr
	}
	if err := g.groups.Err(); err != nil {
		return err
	}
	return g.outErr()
}
