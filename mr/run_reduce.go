package mr

import (
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/task"
)

// reduceAll calls the reducer for each key group.
func (j *Job[K, V, KO, VO]) reduceAll(r *task.Reduce) error {
	groups, err := r.Groups(j.route.groupPrefix())
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
	reducer := instance(j.reducer)
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
