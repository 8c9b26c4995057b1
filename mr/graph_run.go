package mr

import (
	"fmt"
	"iter"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// runNode runs a Node of the graph. Its errors name the stage and the Node.
func (g *Graph) runNode(n *task.NodeRun, config any) (err error) {
	s := g.stageNamed(n.Stage())
	if s == nil {
		return &task.FatalError{Err: fmt.Errorf("job %s has no stage %q in this binary", g.name, n.Stage())}
	}
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
		if err != nil {
			err = fmt.Errorf("stage %s, node %d: %w", s.name, n.Number(), err)
		}
	}()
	t := &Task{node: n, stage: s, config: config}
	if err := t.openOutputs(g.named); err != nil {
		return err
	}
	return s.run(t, n)
}

// runSource runs a Node of a stage made by Read.
func runSource[KI, VI, K, V any](t *Task, n *task.NodeRun, in Input[KI, VI], mapper Mapper[KI, VI, K, V], s *Stage[K, V]) error {
	out, err := s.open(t, n)
	if err != nil {
		return err
	}
	if err := runMap(t, n.Map(), in, mapper, out, out.error); err != nil {
		return err
	}
	if !out.collected {
		n.Attempt.Counters.Add(counter.MapOutputRecords, out.count)
	}
	return out.end(n.Checkpointed())
}

// runGroup runs a Node of a stage made by Group. It calls Setup and Close of user, which
// differs from reducer in a stage made by Each.
func runGroup[K, V, KO, VO any](t *Task, n *task.NodeRun, in []Channel[K, V], reducer Reducer[K, V, KO, VO], user any, s *Stage[KO, VO]) error {
	source, key := openGroups(t, n, in)
	loop := &groupLoop[K, V, KO, VO]{key: key, value: in[0].route.values.Decode, reducer: reducer}
	return runStage(t, loop, source, user, s)
}

// runStage runs a Node of a stage that reads groups. The loop has its reducer, and how keys and
// values are decoded.
func runStage[K, V, KO, VO any](t *Task, g *groupLoop[K, V, KO, VO], source groupSource, user any, s *Stage[KO, VO]) error {
	defer source.Close()
	out, err := s.open(t, t.node)
	if err != nil {
		return err
	}
	if err := setUp[KO, VO](t, user); err != nil {
		return err
	}
	groups, err := source.Open()
	if err != nil || groups == nil {
		return finishStage(t, err, user, out)
	}
	g.task, g.attempt, g.groups, g.out, g.outErr = t, source, groups, out, out.error
	if _, err = g.run(); err == nil {
		err = source.SaveState()
	}
	return finishStage(t, err, user, out)
}

// runEach runs a Node of a stage made by Each.
// Records of files arrive in groups, so such a stage runs as a Group with a reducer that maps
// each value.
func runEach[K, V, KO, VO any](t *Task, n *task.NodeRun, in Channel[K, V], mapper Mapper[K, V, KO, VO], s *Stage[KO, VO]) error {
	if !in.edge.isLive() {
		return runGroup(t, n, []Channel[K, V]{in}, newEachValue(mapper), mapper, s)
	}
	out, err := s.open(t, n)
	if err != nil {
		return err
	}
	if err := setUp[KO, VO](t, mapper); err != nil {
		return err
	}
	loop := &eachLoop[K, V, KO, VO]{task: t, node: n, mapper: mapper, out: out, throttle: newThrottle(t)}
	if ahead, ok := mapper.(LooksAhead[K, V]); ok {
		err = receiveAhead(t, n, in, ahead, loop.record)
	} else {
		err = receive(t, n, in, loop.record)
	}
	n.Attempt.Counters.Add(counter.ReduceInputRecords, loop.records)
	return finishStage(t, err, mapper, out)
}

// finishStage ends the output of a stage after its loop. err is the error of the loop. If
// the attempt is checkpointed, finishStage does not call Close of the user's code: another
// attempt continues the output and calls Close.
func finishStage[KO, VO any](t *Task, err error, user any, out *multiEmitter[KO, VO]) error {
	paused := t.node.Checkpointed()
	if err == nil && !paused {
		err = closeUser(t, user, out)
	}
	t.node.Attempt.Counters.Add(counter.ReduceOutputRecords, out.count)
	if err != nil {
		return err
	}
	return out.end(paused)
}

// eachLoop passes records to the user's mapper as they arrive.
type eachLoop[K, V, KO, VO any] struct {
	task     *Task
	node     *task.NodeRun
	mapper   Mapper[K, V, KO, VO]
	out      *multiEmitter[KO, VO]
	throttle *throttle
	records  int64
}

// record maps one record. Before that, it handles signals and waits for the delay of
// hammr.debug.record.sleep. A checkpoint drains the stream from its writers, so the action
// of a signal does not matter here.
func (l *eachLoop[K, V, KO, VO]) record(key K, value V) error {
	if l.node.Signalled() {
		if _, err := l.node.PollSignals(); err != nil {
			return err
		}
	}
	if err := l.throttle.record(); err != nil {
		return err
	}
	l.records++
	if err := l.mapper.Map(l.task, key, value, l.out); err != nil {
		return err
	}
	return l.out.error()
}

// groupSource provides the groups of records that a Group stage reduces.
type groupSource interface {
	groupAttempt
	// Open waits for all records and returns them by groups. It returns nil, without an
	// error, if the attempt is checkpointed meanwhile.
	Open() (*shuffle.Groups, error)
	// SaveState saves the state from which the Node resumes, if a checkpoint stopped the
	// loop over groups.
	SaveState() error
	Close()
}

// openGroups returns the source of a Group, and the decoder of its keys. Files come sorted; the
// source sorts the records of a stream or pipe itself.
func openGroups[K, V any](t *Task, n *task.NodeRun, in []Channel[K, V]) (groupSource, func(encoded []byte) (K, error)) {
	c := in[0]
	if c.edge.isLive() {
		receive := func(record func(writer int, key, value []byte) error) error { return receiveEncoded(t, n, c, record) }
		return &liveGroups{node: n, task: t, receive: receive}, withoutWriter(c.route.keys.Decode)
	}
	return newFileGroups(n.MainReduce(inputNames(in)...)), c.route.keys.Decode
}

// fileGroups reads groups from files, which are sorted already.
type fileGroups struct {
	groupAttempt // the reduce
	reduce       *task.Reduce
}

func newFileGroups(r *task.Reduce) fileGroups { return fileGroups{r, r} }

// Close leaves the reduce open: the Node still checkpoints it after this.
func (g fileGroups) Close() {}

// SaveState does nothing: the Node saves a reduce itself.
func (g fileGroups) SaveState() error { return nil }

func (g fileGroups) Open() (*shuffle.Groups, error) { return g.reduce.Groups(nil) }

// inputNames returns the names under which a Node knows the channels.
func inputNames[K, V any](in []Channel[K, V]) []string {
	names := make([]string, len(in))
	for i, c := range in {
		names[i] = c.from.name
	}
	return names
}

// eachValue makes a reducer of a mapper: it maps the values of a group one by one. It passes
// the same function to each group's iterator, so that a group costs no allocation.
type eachValue[K, V, KO, VO any] struct {
	mapper Mapper[K, V, KO, VO]
	task   *Task
	key    K
	out    Emitter[KO, VO]
	err    error
	step   func(V) bool // method value of add, made once
}

// newEachValue returns a reducer that one attempt uses.
func newEachValue[K, V, KO, VO any](mapper Mapper[K, V, KO, VO]) *eachValue[K, V, KO, VO] {
	e := &eachValue[K, V, KO, VO]{mapper: mapper}
	e.step = e.add
	return e
}

// Reduce implements Reducer.
func (e *eachValue[K, V, KO, VO]) Reduce(t *Task, key K, values iter.Seq[V], out Emitter[KO, VO]) error {
	e.task, e.key, e.out = t, key, out
	values(e.step)
	return e.err
}

// add maps one value. It ends the group at an error.
func (e *eachValue[K, V, KO, VO]) add(v V) bool {
	e.err = e.mapper.Map(e.task, e.key, v, e.out)
	return e.err == nil
}
