package mr

import (
	"fmt"
	"iter"
	"math/big"
	"math/bits"
	"reflect"

	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// Sum adds the values of each key. A sum of integers is exact, in whatever order they are
// added and combined: if it does not fit V, the job fails with an error that names the key. A
// sum of floats is rounded at each step, so it may depend on the order, and may be infinite.
func Sum[K any, V Number]() FoldReducer[K, V] {
	r := Fold[K](func(acc, v V) V { return acc + v })
	if V(1)/V(2) == 0 { // an integer
		r.partial = func(acc, v V) (V, bool) {
			sum := acc + v
			return sum, (sum < acc) == (v < 0)
		}
		r.total = func() total[V] { return new(integerTotal[V]) }
	}
	return r
}

// total is a sum that does not overflow.
type total[V any] interface {
	reset()
	add(v V)
	value() (v V, exact string, ok bool) // ok is false if the sum is not a V
}

// integerTotal is a sum in 128 bits, which no number of records can exceed.
type integerTotal[V Number] struct {
	high int64
	low  uint64
}

func (t *integerTotal[V]) reset() { *t = integerTotal[V]{} }

func (t *integerTotal[V]) add(v V) {
	low, carry := bits.Add64(t.low, uint64(v), 0)
	t.low = low
	t.high += int64(carry)
	if v < 0 {
		t.high--
	}
}

func (t *integerTotal[V]) value() (V, string, bool) {
	var same integerTotal[V]
	v := V(t.low)
	same.add(v)
	exact := new(big.Int).Lsh(big.NewInt(t.high), 64)
	return v, exact.Add(exact, new(big.Int).SetUint64(t.low)).String(), same == *t
}

// folder returns the function that folds values as they are combined.
func (r FoldReducer[K, V]) folder() func(acc, v V) (V, bool) {
	if r.partial != nil {
		return r.partial
	}
	return shuffle.Always(r.fold)
}

// sumLoop runs a Sum of integers in one attempt. It passes the same function to each group's
// iterator, as foldLoop does. It adds in V as long as the sum fits, and in a total after that.
type sumLoop[K, V any] struct {
	partial func(acc, v V) (V, bool)
	step    func(V) bool
	some    bool // acc holds a value of the current group
	acc     V
	wide    total[V]
	isWide  bool // the sum of the current group is in wide
}

// newSumLoop binds the method add once, so that a group allocates nothing.
func newSumLoop[K, V any](r FoldReducer[K, V]) *sumLoop[K, V] {
	l := &sumLoop[K, V]{partial: r.partial, wide: r.total()}
	l.step = l.add
	return l
}

// Reduce implements Reducer.
func (l *sumLoop[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	l.some, l.isWide = false, false
	values(l.step)
	if l.isWide {
		v, exact, ok := l.wide.value()
		if !ok {
			return &task.FatalError{Err: fmt.Errorf("mr.Sum: key %s: the sum is %s, which does not fit %v; sum values of a larger type", keyText(key), exact, reflect.TypeFor[V]())}
		}
		l.acc = v
	}
	if l.some {
		out.Emit(key, l.acc)
	}
	return nil
}

// add adds one value.
func (l *sumLoop[K, V]) add(v V) bool {
	if l.isWide {
		l.wide.add(v)
		return true
	}
	if !l.some {
		l.acc, l.some = v, true
		return true
	}
	if sum, ok := l.partial(l.acc, v); ok {
		l.acc = sum
		return true
	}
	l.wide.reset()
	l.wide.add(l.acc)
	l.wide.add(v)
	l.isWide = true
	return true
}

// keyText returns a key for an error: text in quotes, and not more than 100 characters of it.
func keyText(key any) string {
	switch k := reflect.ValueOf(key); {
	case k.Kind() == reflect.String:
		return fmt.Sprintf("%.100q", k.String())
	case k.Kind() == reflect.Slice && k.Type().Elem().Kind() == reflect.Uint8:
		return fmt.Sprintf("%.100q", k.Bytes())
	}
	return fmt.Sprintf("%.100s", fmt.Sprint(key))
}
