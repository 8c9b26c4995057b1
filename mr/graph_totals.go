package mr

import (
	"errors"
	"fmt"

	"github.com/hammr/hammr/internal/task"
)

// Totals makes a side of the numbers that the functions of the stage have added up with
// Task.Total: the sum over all Nodes of the stage, by name. A name that no Node has used is
// missing. Rounds of an iteration get the totals of the last round this way:
//
//	totals := ranks.Totals()
//	ranks = mr.With(mr.CoGroup(g, "round-2", &round{last: totals}, links, ranks.Shuffle()), totals)
//
// A stage between the two sums them in one Node. It is called s-totals if this stage is s. A
// total that does not fit an int64 fails the job.
func (s *Stage[K, V]) Totals() *Side[string, int64] {
	totals, targets := sumTotals(s.stage)
	for _, to := range targets {
		s.targets = append(s.targets, totalsTarget[K, V]{to})
	}
	return totals
}

// sumTotals makes the stage that sums the totals of a stage, and returns where the stage has to
// send them.
func sumTotals(s *stage) (*Side[string, int64], []target[string, int64]) {
	numbers, sum := &Stage[string, int64]{stage: s}, Sum[string, int64]()
	totals := Group(s.graph, s.name+"-totals", sum, numbers.Gather().Combine(sum))
	return totals.Broadcast(), numbers.targets
}

// totalsTarget sends the totals of a Node to a channel.
type totalsTarget[K, V any] struct{ to target[string, int64] }

// open implements target.
func (d totalsTarget[K, V]) open(t *Task, n *task.NodeRun) (targetWriter[K, V], error) {
	to, err := d.to.open(t, n)
	return totalsWriter[K, V]{t, to}, err
}

// totalsWriter sends the totals when the Node ends. A Node that is paused sends what it has
// added so far, and the next attempt sends the rest: the reader sums both.
type totalsWriter[K, V any] struct {
	task *Task
	to   targetWriter[string, int64]
}

// Emit implements Emitter. multiEmitter never calls it, because a record has no effect on totals.
func (totalsWriter[K, V]) Emit(K, V) {}

func (w totalsWriter[K, V]) error() error { return w.to.error() }

// end implements targetWriter.
func (w totalsWriter[K, V]) end(paused bool) error {
	for name, total := range w.task.totals {
		n, exact := total.Exact()
		if !exact {
			return &task.FatalError{Err: fmt.Errorf("total %q of a node: it does not fit an int64", name)}
		}
		w.to.Emit(name, n)
	}
	return errors.Join(w.to.error(), w.to.end(paused))
}
