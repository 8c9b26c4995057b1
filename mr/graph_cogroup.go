package mr

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// CoReducer gets each key once with its values of two channels, each in the order that Group
// has. A key may have no values in one of them. left is ranged over before right; values that
// are left over are skipped. A range that was left early is continued by the next one; a range
// after the end fails the job, and so does a range over left after one over right. A CoReducer may also implement Setup, Closer, and either Stateful
// or NotResumable. The rules for the bytes of keys and values are those of Reducer.
type CoReducer[K, L, R, KO, VO any] interface {
	Reduce(t *Task, key K, left iter.Seq[L], right iter.Seq[R], out Emitter[KO, VO]) error
}

// CoReduceFunc makes a CoReducer of a function.
func CoReduceFunc[K, L, R, KO, VO any](f func(t *Task, key K, left iter.Seq[L], right iter.Seq[R], out Emitter[KO, VO]) error) CoReducer[K, L, R, KO, VO] {
	return coReduceFunc[K, L, R, KO, VO](f)
}

// coReduceFunc is a CoReducer without Setup, Closer or state.
type coReduceFunc[K, L, R, KO, VO any] func(*Task, K, iter.Seq[L], iter.Seq[R], Emitter[KO, VO]) error

func (f coReduceFunc[K, L, R, KO, VO]) Reduce(t *Task, key K, left iter.Seq[L], right iter.Seq[R], out Emitter[KO, VO]) error {
	return f(t, key, left, right, out)
}

// CoGroup makes a stage that gets the records of two channels merged by key: a reduce of two
// inputs, whose values may have different types. Both channels are files, and give a key to
// the same Node: a Shuffle of each, or what a stage keeps and a Shuffle by the same keys.
func CoGroup[K, L, R, KO, VO any](g *Graph, name string, r CoReducer[K, L, R, KO, VO], left Channel[K, L], right Channel[K, R]) *Stage[KO, VO] {
	s := &Stage[KO, VO]{stage: g.addStage(name)}
	if r == nil {
		s.errorf("a reducer that is nil")
	}
	if connectOne(s.stage, true, left) && connectOne(s.stage, true, right) && reflect.TypeOf(left.route.keys) != reflect.TypeOf(right.route.keys) {
		s.errorfAt(right.edge.declaredAt, "channels with different codecs of keys: %T and %T", left.route.keys, right.route.keys)
	}
	s.checkFiles()
	s.disallowed = disallowedModes[KO, VO](r)
	s.run = func(t *Task, n *task.NodeRun) error { return runCoGroup(t, n, instance(r), left, right, s) }
	return s
}

// checkFiles refuses streams and pipes: a CoGroup merges what is sorted already.
func (s *stage) checkFiles() {
	for _, l := range s.reads {
		if l.isLive() {
			s.errorfAt(l.declaredAt, "a %v channel into a CoGroup; it reads files, such as those of Shuffle and Keep", l.channel)
		}
	}
}

// runCoGroup runs a Node of a stage made by CoGroup.
func runCoGroup[K, L, R, KO, VO any](t *Task, n *task.NodeRun, user CoReducer[K, L, R, KO, VO], left Channel[K, L], right Channel[K, R], s *Stage[KO, VO]) error {
	reduce := n.CoReduce(left.from.name, right.from.name)
	c := &coGroup[K, L, R, KO, VO]{reduce: reduce, user: user, lent: t.lender()}
	c.leftValue, c.rightValue = lending(c.lent, left.route.values.Decode), lending(c.lent, right.route.values.Decode)
	c.left, c.right, c.loop = c.eachLeft, c.eachRight, &groupLoop[K, struct{}, KO, VO]{key: left.route.keys.Decode, reducer: c}
	return runStage(t, c.loop, newFileGroups(reduce), user, s)
}

// coGroup is a Reducer that divides the values of each group between two iterators. It takes
// them from the groups themselves, instead of the iterator that it is given.
//
//	group   left left left right right
//	             ^ current: the left iterator has it next
type coGroup[K, L, R, KO, VO any] struct {
	reduce     *task.Reduce
	loop       *groupLoop[K, struct{}, KO, VO]
	user       CoReducer[K, L, R, KO, VO]
	leftValue  func(encoded []byte) (L, error)
	rightValue func(encoded []byte) (R, error)
	left       iter.Seq[L] // method value of eachLeft, made once
	right      iter.Seq[R]
	groups     *shuffle.Groups
	lent       *poison.Lender // lends the current value
	current    bool           // groups has a current value
	taken      bool           // an iterator has returned it; its bytes are valid until the next value
	isRight    bool           // it is of the right channel
	leftEnded  bool           // no more left values may be asked for
	rightEnded bool
}

// Reduce implements Reducer.
func (c *coGroup[K, L, R, KO, VO]) Reduce(t *Task, key K, _ iter.Seq[struct{}], out Emitter[KO, VO]) error {
	c.groups, c.isRight, c.leftEnded, c.rightEnded = c.loop.groups, false, false, false
	c.next()
	err := c.user.Reduce(t, key, c.left, c.right, out)
	c.leftEnded, c.rightEnded = true, true
	return err
}

// checkEnded panics if user code asks for values after their end.
func (c *coGroup[K, L, R, KO, VO]) checkEnded(ended bool, what string) {
	if ended {
		panic(thrown{rangedAgain(c.loop.task, what)})
	}
}

// skipTaken moves to the value with which a range begins.
func (c *coGroup[K, L, R, KO, VO]) skipTaken() {
	if c.taken {
		c.next()
	}
}

// next moves to the next value of the group. Progress is reported between values.
func (c *coGroup[K, L, R, KO, VO]) next() {
	c.taken = false
	if c.current = c.groups.NextValue(); !c.current {
		c.lent.End()
		return
	}
	if c.loop.watch.Signalled() {
		c.reduce.PollProgress()
	}
	c.isRight = c.isRight || c.reduce.IsSecond() // the values of the right channel come last
}

// eachLeft ranges over the values of the left channel.
func (c *coGroup[K, L, R, KO, VO]) eachLeft(yield func(L) bool) {
	c.checkEnded(c.leftEnded, "left values")
	c.skipTaken()
	for c.current && !c.isRight {
		v, err := c.leftValue(c.groups.Value())
		c.taken = true
		if !c.decoded(err) || !yield(v) {
			return
		}
		c.next()
	}
	c.leftEnded = true
}

// eachRight ranges over the values of the right channel, and skips the values of the left one that were not read.
func (c *coGroup[K, L, R, KO, VO]) eachRight(yield func(R) bool) {
	c.checkEnded(c.rightEnded, "right values")
	c.skipTaken()
	c.leftEnded = true
	for ; c.current; c.next() {
		if !c.isRight {
			continue
		}
		v, err := c.rightValue(c.groups.Value())
		c.taken = true
		if !c.decoded(err) || !yield(v) {
			return
		}
	}
	c.rightEnded = true
}

// decoded reports whether a value could be decoded. If not, the attempt ends after the group.
func (c *coGroup[K, L, R, KO, VO]) decoded(err error) bool {
	if err != nil {
		c.loop.decodeErr, c.current = fmt.Errorf("decoding a value: %w", err), false
	}
	return err == nil
}
