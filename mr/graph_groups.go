package mr

import (
	"iter"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/keys"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// groupSource provides the groups of records that a Group stage reduces.
type groupSource[K any] interface {
	groupAttempt
	// Open waits for all records and returns them by groups. It returns nil, without an
	// error, if the attempt is checkpointed meanwhile.
	Open() (*shuffle.Groups, error)
	// SaveState saves what the Node resumes from if the loop over groups was stopped for a
	// checkpoint.
	SaveState() error
	// Key decodes the key of a group.
	Key(encoded []byte) (K, error)
	Close()
}

func openGroups[K, V any](t *Task, n *task.NodeRun, in []Channel[K, V]) groupSource[K] {
	if in[0].isLive() {
		return &liveGroups[K, V]{NodeRun: n, task: t, in: in[0]}
	}
	return fileGroups[K]{n.Reduce(inputNames(in)...), in[0].route.keys}
}

// fileGroups reads groups from files, which are sorted already.
type fileGroups[K any] struct {
	*task.Reduce
	keys keys.Codec[K]
}

// Close leaves the reduce open: the Node still checkpoints it after this.
func (g fileGroups[K]) Close() {}

// SaveState does nothing: the Node saves a reduce itself.
func (g fileGroups[K]) SaveState() error { return nil }

func (g fileGroups[K]) Open() (*shuffle.Groups, error) { return g.Groups(nil) }
func (g fileGroups[K]) Key(encoded []byte) (K, error)  { return g.keys.Decode(encoded) }

// inputNames returns the names under which a Node knows the channels.
func inputNames[K, V any](in []Channel[K, V]) []string {
	names := make([]string, len(in))
	for i, c := range in {
		names[i] = c.from.name
	}
	return names
}

// isLive reports whether both ends of the channel run at the same time.
func (c Channel[K, V]) isLive() bool { return c.kind != dag.ChannelFile }

// eachValue makes a reducer of a mapper: it maps the values of a group one by one. It passes
// the same function to each group's iterator, so that a group costs no allocation.
type eachValue[K, V, KO, VO any] struct {
	mapper Mapper[K, V, KO, VO]
	task   *Task
	key    K
	out    Emitter[KO, VO]
	err    error
	step   func(V) bool // the method add, bound once
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
