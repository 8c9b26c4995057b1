package mr

import (
	"fmt"
	"iter"

	"github.com/hammr/hammr/internal/keys"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// CoGroupFunc gets a key with its values of two stages. left is to be ranged over first: when
// right begins, left has no more values. Each may be ranged over once, and either may be
// empty. The bytes of a value are valid until the next value, and those of the key until the
// function returns.
type CoGroupFunc[K, A, B, KO, VO any] func(t *Task, key K, left iter.Seq[A], right iter.Seq[B], out Emitter[KO, VO]) error

// CoGroup makes a stage that gets the records of two stages by key, each key once: a join.
// Both stages may emit values of different types.
//
//	mr.CoGroup(g, "join", users.Shuffle(), visits.Shuffle(),
//		func(t *mr.Task, id string, users iter.Seq[User], visits iter.Seq[Visit], out …) error {
//			all := slices.Collect(users)
//			for v := range visits { … }
//
// The values of the left come before those of the right, so the function keeps those that it
// needs, and the right is streamed: put the side with fewer values of a key on the left. In
// each side, values are ordered as in a Group.
//
// A CoGroup reads files only. It has as many Nodes as a Group. A key codec of the user's own
// must be an Ordered, the same on both sides.
func CoGroup[K, A, B, KO, VO any](g *Graph, name string, left Channel[K, A], right Channel[K, B], f CoGroupFunc[K, A, B, KO, VO]) *Stage[KO, VO] {
	s := &Stage[KO, VO]{stage: g.addStage(name)}
	if f == nil {
		s.errorf("a function that is nil")
	}
	if fmt.Sprintf("%T", left.route.keys) != fmt.Sprintf("%T", right.route.keys) {
		s.errorfAt(right.declaredAt, "channels with different codecs of keys: %T and %T", left.route.keys, right.route.keys)
	}
	left, right = left.asSide(s.stage, leftSide), right.asSide(s.stage, rightSide)
	connect(s.stage, true, left)
	connect(s.stage, true, right)
	s.run = func(t *Task, n *task.NodeRun) error { return runCoGroup(t, n, left, right, f, s) }
	return s
}

// The sides of a CoGroup, as the last byte of an encoded key. The left sorts first.
const (
	leftSide byte = iota
	rightSide
)

// asSide returns the channel with keys that end in their side.
func (c Channel[K, V]) asSide(to *stage, side byte) Channel[K, V] {
	if c.route.keyErr != nil || c.from == nil {
		return c // connect reports it
	}
	ordered, ok := c.route.keys.(keys.Ordered[K])
	if !ok {
		to.errorfAt(c.declaredAt, "key codec %T: a CoGroup needs a codec that implements mr.Ordered", c.route.keys)
		return c
	}
	c.route.keys, c.route.groupFirst = sideCodec[K]{ordered, side}, true
	return c
}

// sideCodec encodes the keys of one side of a CoGroup:
//
//	part form of the key │ side
//
// All records of a key are together, whatever their side, and the left comes first.
type sideCodec[K any] struct {
	keys.Ordered[K]
	side byte
}

// Append implements Codec.
func (c sideCodec[K]) Append(dst []byte, key K) []byte {
	return append(c.AppendPart(dst, key), c.side)
}

// Decode implements Codec.
func (c sideCodec[K]) Decode(src []byte) (K, error) {
	key, rest, err := c.DecodePart(src)
	if err == nil && len(rest) != 1 {
		err = fmt.Errorf("%w of a key of a CoGroup: %d bytes after it", keys.ErrMalformed, len(rest))
	}
	return key, err
}

// GroupLen implements keys.Grouper: the side does not make a group.
func (c sideCodec[K]) GroupLen(key []byte) (int, error) { return len(key) - 1, nil }

// plainKeyed is a codec whose keys have an addition that must not decide their partition.
type plainKeyed interface {
	plainKey() func(key []byte) ([]byte, error)
}

// plainKey returns a function that turns an encoded key into the encoding that a Group would
// have. Keys are partitioned by it, so that a CoGroup puts a key where a Group does. The
// function is for one goroutine.
func (c sideCodec[K]) plainKey() func(key []byte) ([]byte, error) {
	switch any(c.Ordered).(type) {
	case keys.Bytes, keys.String:
		return func(key []byte) ([]byte, error) {
			plain, _, err := keys.Bytes{}.DecodePart(key)
			return plain, err
		}
	}
	var plain []byte
	return func(key []byte) ([]byte, error) {
		k, _, err := c.DecodePart(key)
		if err != nil {
			return nil, err
		}
		plain = c.Ordered.Append(plain[:0], k)
		return plain, nil
	}
}

// plainPartition returns the hash partition of keys without their addition.
func plainPartition(c plainKeyed, n int) func(key []byte) int {
	plain := c.plainKey()
	return func(key []byte) int {
		k, err := plain(key)
		if err != nil {
			panic(fmt.Errorf("partitioning a key: %w", err))
		}
		return shuffle.HashPartition(k, n)
	}
}

// runCoGroup runs a Node of a stage made by CoGroup, as a Group whose values know their side.
func runCoGroup[K, A, B, KO, VO any](t *Task, n *task.NodeRun, left Channel[K, A], right Channel[K, B], f CoGroupFunc[K, A, B, KO, VO], s *Stage[KO, VO]) error {
	out, err := s.open(t, n)
	if err != nil {
		return err
	}
	r := &coReducer[K, A, B, KO, VO]{f: f, decodeLeft: left.route.values.Decode, decodeRight: right.route.values.Decode}
	r.left, r.right = r.eachLeft, r.eachRight
	r.stepLeft, r.stepRight = r.addLeft, r.addRight
	source := coGroups[K]{fileGroups[K]{n.Reduce(left.from.name, right.from.name), left.route.keys, left.route.groupPrefix()}, &r.groups}
	defer source.Close()
	return reduceGroups(t, source, r.withSide, Reducer[K, sided, KO, VO](r), nil, out)
}

// coGroups are the groups of a CoGroup. It hands them to the reducer, which needs the full
// key of each value.
type coGroups[K any] struct {
	fileGroups[K]
	groups **shuffle.Groups
}

// Open implements groupSource.
func (g coGroups[K]) Open() (*shuffle.Groups, error) {
	groups, err := g.fileGroups.Open()
	*g.groups = groups
	return groups, err
}

// sided is an encoded value with its side.
type sided struct {
	side  byte
	value []byte
}

// coReducer divides the values of a key into two sequences. It passes the same functions to
// each key, so that a key costs no allocation.
//
//	values   l l l r r
//	left     ─────►│          stops at the first value of the right, which stays pending
//	right          └───►      begins with the pending value; skips what left has not read
type coReducer[K, A, B, KO, VO any] struct {
	f           CoGroupFunc[K, A, B, KO, VO]
	decodeLeft  func([]byte) (A, error)
	decodeRight func([]byte) (B, error)
	groups      *shuffle.Groups

	left                iter.Seq[A] // method values, made once
	right               iter.Seq[B]
	stepLeft, stepRight func(sided) bool

	// The current key.
	values     iter.Seq[sided]
	pending    sided // read by left, not returned yet
	isPending  bool
	rightBegun bool
	yieldLeft  func(A) bool
	yieldRight func(B) bool
	err        error // error of decoding a value
}

// withSide returns a value with its side, which is the last byte of its key.
func (r *coReducer[K, A, B, KO, VO]) withSide(value []byte) (sided, error) {
	key := r.groups.FullKey()
	return sided{key[len(key)-1], value}, nil
}

// Reduce implements Reducer.
func (r *coReducer[K, A, B, KO, VO]) Reduce(t *Task, key K, values iter.Seq[sided], out Emitter[KO, VO]) error {
	r.values, r.isPending, r.rightBegun = values, false, false
	if err := r.f(t, key, r.left, r.right, out); err != nil {
		return err
	}
	return r.err
}

// eachLeft ranges over the values of the left.
func (r *coReducer[K, A, B, KO, VO]) eachLeft(yield func(A) bool) {
	if r.isPending || r.rightBegun {
		return
	}
	r.yieldLeft = yield
	r.values(r.stepLeft)
}

// addLeft takes a value for eachLeft.
func (r *coReducer[K, A, B, KO, VO]) addLeft(v sided) bool {
	if v.side == rightSide {
		r.pending, r.isPending = v, true
		return false
	}
	value, err := r.decodeLeft(v.value)
	if err != nil {
		r.err = fmt.Errorf("decoding a value of the left: %w", err)
		return false
	}
	return r.yieldLeft(value)
}

// eachRight ranges over the values of the right.
func (r *coReducer[K, A, B, KO, VO]) eachRight(yield func(B) bool) {
	r.rightBegun, r.yieldRight = true, yield
	if r.isPending {
		r.isPending = false
		if !r.addRight(r.pending) {
			return
		}
	}
	r.values(r.stepRight)
}

// addRight takes a value for eachRight.
func (r *coReducer[K, A, B, KO, VO]) addRight(v sided) bool {
	if v.side == leftSide {
		return true
	}
	value, err := r.decodeRight(v.value)
	if err != nil {
		r.err = fmt.Errorf("decoding a value of the right: %w", err)
		return false
	}
	return r.yieldRight(value)
}
