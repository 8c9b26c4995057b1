package mr

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/task"
)

// Gather carries records in files, all of them to the only Node of the reader.
func (s *Stage[K, V]) Gather() Channel[K, V] { return s.Via(dag.ChannelFile, dag.Gather) }

// ByValue orders records by value, the greatest first. Top breaks ties by key, the least
// first.
func ByValue[K any, V cmp.Ordered](a, b Pair[K, V]) int { return cmp.Compare(b.Second, a.Second) }

// ByKey orders records by key, the least first. It finds all records equal, and leaves the order
// to the keys.
func ByKey[K, V any](_, _ Pair[K, V]) int { return 0 }

// Top makes a stage that emits the first n records of the stage in order, in that order:
//
//	counts.Top(10, mr.ByValue)     // the ten greatest counts
//
// Records that order finds equal are in order of key, then of encoded value. The stage is
// called s-top, if this one is s. It has one Node, which gets at most n records of each
// Node of this stage. Each Node keeps up to 2n records in memory.
func (s *Stage[K, V]) Top(n int, order func(a, b Pair[K, V]) int) *Stage[K, V] {
	return s.top(n, order, false)
}

// TopDistinct is Top of the records that differ: of those with equal keys and equal values, it
// counts and emits one.
func (s *Stage[K, V]) TopDistinct(n int, order func(a, b Pair[K, V]) int) *Stage[K, V] {
	return s.top(n, order, true)
}

func (s *Stage[K, V]) top(n int, order func(a, b Pair[K, V]) int, distinct bool) *Stage[K, V] {
	c := s.Gather()
	if n < 1 {
		s.errorfAt(c.edge.declaredAt, "top of %d records; at least 1", n)
	}
	if order == nil {
		s.errorfAt(c.edge.declaredAt, "top in an order that is nil: use mr.ByValue or a function of your own")
	}
	ranking := &topOrder[K, V]{n: n, order: order, distinct: distinct, keys: c.route.keys, values: c.route.values}
	c.route.top = ranking
	return Group(s.graph, s.name+"-top", Reducer[K, V, K, V](&topReducer[K, V]{ranking: ranking}), c)
}

// topOrder describes a Top of records. All Nodes share it.
type topOrder[K, V any] struct {
	n        int
	order    func(a, b Pair[K, V]) int
	distinct bool
	keys     Codec[K]
	values   Codec[V]
}

// firstRecords returns an empty collection of the first records.
func firstRecords[K, V any](o *topOrder[K, V]) *firstOf[Pair[K, V]] {
	var a, b []byte // scratch
	order := func(x, y Pair[K, V]) int {
		if by := o.order(x, y); by != 0 {
			return by
		}
		a, b = o.keys.Append(a[:0], x.First), o.keys.Append(b[:0], y.First)
		if by := bytes.Compare(a, b); by != 0 {
			return by
		}
		a, b = o.values.Append(a[:0], x.Second), o.values.Append(b[:0], y.Second)
		return bytes.Compare(a, b)
	}
	key, value := copyFuncOf(o.keys), copyFuncOf(o.values)
	return &firstOf[Pair[K, V]]{n: o.n, order: order, distinct: o.distinct, own: func(m *arena, p Pair[K, V]) Pair[K, V] {
		return Pair[K, V]{First: key.of(m, p.First), Second: value.of(m, p.Second)}
	}}
}

// topWriter passes the first records of one Node to a channel, when the Node ends. A Node
// that is paused passes those it has seen, and the next attempt passes its own: the reader
// chooses from both.
type topWriter[K, V any] struct {
	first *firstOf[Pair[K, V]]
	to    targetWriter[K, V]
}

// Emit implements Emitter.
func (w *topWriter[K, V]) Emit(key K, value V) { w.first.add(Pair[K, V]{First: key, Second: value}) }

func (w *topWriter[K, V]) error() error { return w.to.error() }

// end implements targetWriter.
func (w *topWriter[K, V]) end(paused bool) error {
	emitAll(w.first, w.to)
	return errors.Join(w.to.error(), w.to.end(paused))
}

// emitAll emits the first records in order.
func emitAll[K, V any](first *firstOf[Pair[K, V]], out Emitter[K, V]) {
	for _, r := range first.take() {
		out.Emit(r.First, r.Second)
	}
}

// topReducer chooses from the records of all Nodes and emits them at its end.
type topReducer[K, V any] struct {
	ranking *topOrder[K, V]
	first   *firstOf[Pair[K, V]]
}

// Setup implements Setup.
func (r *topReducer[K, V]) Setup(*Task) error {
	r.first = firstRecords(r.ranking)
	return nil
}

// Reduce implements Reducer.
func (r *topReducer[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], _ Emitter[K, V]) error {
	for v := range values {
		r.first.add(Pair[K, V]{First: key, Second: v})
	}
	return nil
}

// Close implements Closer.
func (r *topReducer[K, V]) Close(_ *Task, out Emitter[K, V]) error {
	emitAll(r.first, out)
	return nil
}

// Save implements Stateful: each key and each value, preceded by its length as a varint.
func (r *topReducer[K, V]) Save() (state []byte, err error) {
	var part []byte
	for _, record := range r.first.take() {
		part = r.ranking.keys.Append(part[:0], record.First)
		state = append(binary.AppendUvarint(state, uint64(len(part))), part...)
		part = r.ranking.values.Append(part[:0], record.Second)
		state = append(binary.AppendUvarint(state, uint64(len(part))), part...)
	}
	return state, nil
}

// Load implements Stateful.
func (r *topReducer[K, V]) Load(state []byte) error {
	for len(state) > 0 {
		key, rest, err := cutPart(state)
		if err != nil {
			return err
		}
		value, rest, err := cutPart(rest)
		if err != nil {
			return err
		}
		var record Pair[K, V]
		if record.First, err = r.ranking.keys.Decode(key); err != nil {
			return err
		}
		if record.Second, err = r.ranking.values.Decode(value); err != nil {
			return err
		}
		r.first.add(record)
		state = rest
	}
	return nil
}

// cutPart cuts off bytes that their length precedes.
func cutPart(state []byte) (part, rest []byte, err error) {
	n, used := binary.Uvarint(state)
	if used <= 0 || n > uint64(len(state)-used) {
		return nil, nil, &task.FatalError{Err: errors.New("state of a top: cut off")}
	}
	return state[used : used+int(n)], state[used+int(n):], nil
}

// firstOf keeps the first n values in an order. Of equal values the earlier comes first. It
// lets up to 2n values collect before it sorts them, so that a value costs O(log n).
type firstOf[T any] struct {
	n        int
	order    func(a, b T) int
	distinct bool        // of equal values, only the first counts
	own      copyFunc[T] // copies a value that is kept; nil if it needs no copy
	arena    arena       // scratch for own
	kept     []T
	full     bool // kept[:n] is sorted, so a value after kept[n-1] is not among the first
}

// add considers a value. It copies a value that it keeps.
func (f *firstOf[T]) add(v T) {
	if f.full && f.order(v, f.kept[f.n-1]) >= 0 {
		return
	}
	f.arena.bytes = nil // a value that is dropped must not keep the bytes of others
	f.kept = append(f.kept, f.own.of(&f.arena, v))
	if len(f.kept)-f.n >= f.n {
		f.prune()
	}
}

// prune keeps the first n values.
func (f *firstOf[T]) prune() {
	slices.SortStableFunc(f.kept, f.order)
	if f.distinct {
		f.kept = slices.CompactFunc(f.kept, func(a, b T) bool { return f.order(a, b) == 0 })
	}
	if len(f.kept) >= f.n {
		clear(f.kept[f.n:])
		f.kept, f.full = f.kept[:f.n], true
	}
}

// take returns the first values in order. It is valid until the next add.
func (f *firstOf[T]) take() []T {
	f.prune()
	return f.kept
}

// reset forgets all values.
func (f *firstOf[T]) reset() {
	clear(f.kept)
	f.kept, f.full = f.kept[:0], false
}

// Top keeps the first n values of each key in an order, in that order. Of equal values the
// earlier comes first. It is a reducer and a combiner, and keeps up to 2n values in memory.
func Top[K, V any](n int, order func(a, b V) int) Reducer[K, V, K, V] {
	return topValues[K, V]{n, order}
}

// topValues is the reducer that attempts share. Each attempt uses its own topLoop.
type topValues[K, V any] struct {
	n     int
	order func(a, b V) int
}

// Reduce implements Reducer, for code that calls it itself.
func (r topValues[K, V]) Reduce(t *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	l := r.forAttempt()
	if err := callSetup(t, l); err != nil {
		return err
	}
	return l.Reduce(t, key, values, out)
}

// forAttempt returns the reducer of one attempt for values of the default codec.
func (r topValues[K, V]) forAttempt() Reducer[K, V, K, V] { return r.forValues(valueCodec[V]()) }

// forValues implements keeper.
func (r topValues[K, V]) forValues(codec Codec[V]) Reducer[K, V, K, V] {
	return &topLoop[K, V]{firstOf[V]{n: r.n, order: r.order, own: ownDecoded(codec)}}
}

// topLoop reuses its memory for each key.
type topLoop[K, V any] struct{ first firstOf[V] }

// Setup implements Setup.
func (l *topLoop[K, V]) Setup(*Task) error {
	if l.first.n < 1 || l.first.order == nil {
		return &task.FatalError{Err: fmt.Errorf("mr.Top of %d values of each key: it needs at least 1 and an order", l.first.n)}
	}
	return nil
}

// Reduce implements Reducer.
func (l *topLoop[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	l.first.reset()
	for v := range values {
		l.first.add(v)
	}
	for _, v := range l.first.take() {
		out.Emit(key, v)
	}
	return nil
}
