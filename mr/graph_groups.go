package mr

import (
	"iter"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/keys"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// groupSource is where a Group has its records from.
type groupSource[K any] interface {
	groupAttempt
	// Open waits for all records and has them by groups; nil, without an error,
	// when the attempt is paused meanwhile.
	Open() (*shuffle.Groups, error)
	// SaveState leaves what the Node is to go on from if the loop over groups was paused.
	SaveState() error
	// Key decodes the key of a group.
	Key(encoded []byte) (K, error)
	Close()
}

func openGroups[K, V any](t *Task, n *task.Node, in []Channel[K, V]) groupSource[K] {
	if in[0].isLive() {
		return &liveGroups[K, V]{Node: n, task: t, in: in[0]}
	}
	return fileGroups[K]{n.Reduce(inputNames(in)...), in[0].route.keys}
}

// fileGroups are files, which come sorted.
type fileGroups[K any] struct {
	*task.Reduce
	keys keys.Codec[K]
}

// Close leaves the reduce to the Node: if the attempt is paused, its checkpoint
// comes after this.
func (g fileGroups[K]) Close() {}

// SaveState is the Node's own, too.
func (g fileGroups[K]) SaveState() error { return nil }

func (g fileGroups[K]) Open() (*shuffle.Groups, error) { return g.Groups(nil) }
func (g fileGroups[K]) Key(encoded []byte) (K, error)  { return g.keys.Decode(encoded) }

// inputNames are the names under which a Node knows the channels.
func inputNames[K, V any](in []Channel[K, V]) []string {
	names := make([]string, len(in))
	for i, c := range in {
		names[i] = c.from.name
	}
	return names
}

// isLive reports whether the two ends of the channel run at once.
func (c Channel[K, V]) isLive() bool { return c.kind != dag.ChannelFile }

// eachValue makes a reducer of a mapper: it maps the values of a group one by
// one. It ranges over all groups with one and the same function.
type eachValue[K, V, KO, VO any] struct {
	mapper Mapper[K, V, KO, VO]
	task   *Task
	key    K
	out    Emitter[KO, VO]
	err    error
	step   func(V) bool // add
}

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

func (e *eachValue[K, V, KO, VO]) add(v V) bool {
	e.err = e.mapper.Map(e.task, e.key, v, e.out)
	return e.err == nil
}
