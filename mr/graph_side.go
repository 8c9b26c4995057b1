package mr

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/shuffle"
)

// Side is all output of a stage, for the functions of other stages to read: the small half
// of a join, or the centres of the last round. With gives a side to a stage. The records of
// a side are kept in files, and each Node that reads the side gets all of them. Lookup finds
// records by their keys; All ranges over all records.
type Side[K, V any] struct {
	side  *side
	route *route[K, V]
}

// side is the part of a Side that does not depend on its types.
type side struct {
	from       *stage
	files      channelFiles
	declaredAt position
	stored     bool            // the files survive the loss of the machine that wrote them
	given      bool            // With has given it to a stage
	send       func(to string) // makes from emit to the stage of that name too
	checkTypes func() error    // returns why the records cannot be encoded
}

// Broadcast makes the records that the stage emits a side for other stages.
func (s *Stage[K, V]) Broadcast() *Side[K, V] {
	r := newRoute[K, V]()
	send := func(to string) { s.targets = append(s.targets, channelTarget[K, V]{to: to, route: &r}) }
	of := &side{from: s.stage, declaredAt: callerPosition(), send: send, checkTypes: func() error { return checkRoute(&r) }}
	s.graph.sides = append(s.graph.sides, of)
	return &Side[K, V]{side: of, route: &r}
}

// Stored stores the files as Channel.Stored does, for all stages that read the side.
func (s *Side[K, V]) Stored() *Side[K, V] {
	s.side.store()
	return s
}

func (s *side) store() {
	s.stored = true
	for _, l := range s.from.graph.links {
		if l.files == &s.files { // given before
			l.stored = true
		}
	}
}

// Combine sets the combiner, as Channel.Combine does.
func (s *Side[K, V]) Combine(r Reducer[K, V, K, V]) *Side[K, V] {
	s.route.combiner = r
	return s
}

// KeyCodec sets how keys are encoded, as Channel.KeyCodec does.
func (s *Side[K, V]) KeyCodec(codec Codec[K]) *Side[K, V] {
	s.route.keys, s.route.keyErr = codec, nil
	return s
}

// ValueCodec sets how values are encoded.
func (s *Side[K, V]) ValueCodec(codec Codec[V]) *Side[K, V] {
	s.route.values = codec
	return s
}

// giveTo implements sideOrOutput.
func (s *Side[K, V]) giveTo(to *stage) { s.side.giveTo(to) }

// giveTo adds the edge to a stage that reads the side. A stage that reads the job's input has
// no edges into it.
func (s *side) giveTo(to *stage) {
	s.given = true
	if to.source {
		to.errorfAt(callerPosition(), "a side for a stage that reads the job's input; give it to a stage after a Pipe")
		return
	}
	l := &link{from: s.from, to: to, channel: dag.ChannelFile, connection: dag.Broadcast, stored: s.stored, files: &s.files, declaredAt: callerPosition()}
	if to.graph.link(l) {
		to.sides = append(to.sides, l)
		if l.filesOf() == "" {
			s.send(to.name)
		}
	}
}

// check refuses a side that no stage reads, or whose records cannot be encoded.
func (s *side) check() {
	if !s.given {
		s.from.errorfAt(s.declaredAt, "a side that no stage reads: give it to one by With")
	}
	if err := s.checkTypes(); err != nil {
		s.from.errorfAt(s.declaredAt, "side: %w", err)
	}
}

// All ranges over the side in order of key; equal keys have the order that Group gives to
// values. Each call reads the side again. Keys and values that are []byte are valid until
// the next step. If the side cannot be read, the task fails.
func (s *Side[K, V]) All(t *Task) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if err := s.readAll(t, yield); err != nil {
			panic(thrown{s.side.errorOf(err)})
		}
	}
}

// checkGiven returns an error unless With has given the side to the stage of the task.
func (s *side) checkGiven(t *Task) error {
	if t.stage == nil || !slices.ContainsFunc(t.stage.sides, func(l *link) bool { return l.from == s.from }) {
		return errors.New("not given to the stage that reads it; mr.With(stage, side) does that")
	}
	return nil
}

// readAll reads the side as a reduce with one input, which fetches and merges the files of all
// Nodes.
func (s *Side[K, V]) readAll(t *Task, yield func(K, V) bool) error {
	if err := s.side.checkGiven(t); err != nil {
		return err
	}
	r := t.node.Reduce(s.side.from.name)
	defer r.Close()
	groups, err := r.Groups(nil)
	if err != nil {
		return err
	}
	lentKey, lentValue := t.lender(), t.lender()
	defer lentKey.End()
	defer lentValue.End()
	each := sideGroup[K, V]{t, groups, lending(lentKey, s.route.keys.Decode), lending(lentValue, s.route.values.Decode)}
	for groups.NextGroup() {
		if more, err := each.read(yield); err != nil || !more {
			return err
		}
	}
	return groups.Err()
}

// sideGroup reads the groups of a side.
type sideGroup[K, V any] struct {
	task   *Task
	groups *shuffle.Groups
	key    func(encoded []byte) (K, error)
	value  func(encoded []byte) (V, error)
}

// read yields the records of one key, and reports whether to continue. Reading a side counts as
// progress of the task.
func (g *sideGroup[K, V]) read(yield func(K, V) bool) (more bool, err error) {
	key, err := g.key(g.groups.Key())
	if err != nil {
		return false, fmt.Errorf("decoding a key: %w", err)
	}
	for g.groups.NextValue() {
		g.task.Alive()
		value, err := g.value(g.groups.Value())
		if err != nil {
			return false, fmt.Errorf("decoding a value: %w", err)
		}
		if !yield(key, value) {
			return false, nil
		}
	}
	return true, nil
}
