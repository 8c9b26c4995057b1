package mr

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"unsafe"

	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/shuffle"
)

// route describes how records get from the code that emits them to the code that reads them:
// how they are encoded, combined and partitioned.
type route[K, V any] struct {
	keys       keys.Codec[K]
	keyErr     error // why K has no codec; nil if it has one
	values     keys.Codec[V]
	combiner   Reducer[K, V, K, V]             // nil for no combiner
	partition  func(key K, partitions int) int // nil to partition by hash
	groupFirst bool
	totalOrder bool            // partitions are ranges of keys, found by sampling
	top        *topOrder[K, V] // only the first records of each Node are sent; nil for all
}

// newRoute returns a route with the default codecs of its types.
func newRoute[K, V any]() route[K, V] {
	r := route[K, V]{values: valueCodec[V]()}
	r.keys, r.keyErr = keyCodec[K]()
	return r
}

// checkRoute returns why the keys or values of a route cannot be encoded, or would arrive changed.
func checkRoute[K, V any](r *route[K, V]) error { return errors.Join(checkKeys(r), checkValues(r)) }

func checkKeys[K, V any](r *route[K, V]) error {
	if err := keys.CheckType(r.keys); err != nil {
		return fmt.Errorf("keys of type %v: %w; or give a codec with KeyCodec", reflect.TypeFor[K](), err)
	}
	return r.keyErr
}

func checkValues[K, V any](r *route[K, V]) error {
	if err := keys.CheckType(r.values); err != nil {
		return fmt.Errorf("values of type %v: %w; or give a codec with ValueCodec", reflect.TypeFor[V](), err)
	}
	return nil
}

// collect makes the collector of an attempt and the emitter that feeds it. opts and the
// route together describe the collector.
//
//	no combiner   Emit ──> encode ──> sort buffer ──> runs
//	a reducer     Emit ──> encode ──> sort buffer ──> groups, combined ──> runs
//	a Fold        Emit ──> encode the key ──> hash table of values ──> sorted runs
func collect[K, V any](t *Task, r *route[K, V], opts shuffle.Options) (Emitter[K, V], shuffle.Collector, error) {
	var err error
	if opts.Partition, err = partitioner(t, r, opts.Partitions); err != nil {
		return nil, nil, err
	}
	if f, ok := r.combiner.(folding[K, V]); ok {
		return f.collectFolded(t, r, opts)
	}
	if r.combiner != nil {
		if opts.Combine, err = groupCombiner(t, r); err != nil {
			return nil, nil, err
		}
	}
	buffer, err := shuffle.NewSortBuffer(t.Context(), opts)
	if err != nil {
		return nil, nil, err
	}
	return sortEmitter(r.keys, r.values, buffer), buffer, nil
}

// encoder is an Emitter that encodes both halves of a record into buffers of its own and passes
// them to add, which copies them.
type encoder[K, V any] struct {
	keys       keys.Codec[K]
	values     keys.Codec[V]
	add        func(key, value []byte)
	key, value []byte
}

func (e *encoder[K, V]) Emit(k K, v V) {
	e.key = e.keys.Append(e.key[:0], k)
	e.value = e.values.Append(e.value[:0], v)
	e.add(e.key, e.value)
}

// foldEmitter returns an emitter that feeds a fold table. Keys that are bytes or strings go
// in directly; others are encoded first.
func foldEmitter[K, V any](codec keys.Codec[K], table *shuffle.FoldTable[V]) Emitter[K, V] {
	var direct any
	switch any(codec).(type) {
	case keys.Bytes:
		direct = table
	case keys.String:
		direct = &stringFold[V]{table}
	}
	if e, ok := direct.(Emitter[K, V]); ok {
		return e
	}
	return &codedFold[K, V]{codec: codec, table: table}
}

// stringFold passes the bytes of a string to the table without a copy. The table copies a key
// only when it is new.
type stringFold[V any] struct{ table *shuffle.FoldTable[V] }

func (e *stringFold[V]) Emit(k string, v V) { e.table.Emit(viewBytes(k), v) }

// codedFold encodes each key; the value goes into the table as it is.
type codedFold[K, V any] struct {
	codec keys.Codec[K]
	table *shuffle.FoldTable[V]
	key   []byte
}

func (e *codedFold[K, V]) Emit(k K, v V) {
	e.key = e.codec.Append(e.key[:0], k)
	e.table.Emit(e.key, v)
}

// sortEmitter returns an emitter that feeds a sort buffer. It adds bytes and strings as they
// are, because their encodings are their bytes. It compares the types once, so that Emit
// makes no choice for each record.
func sortEmitter[K, V any](k keys.Codec[K], v keys.Codec[V], buffer *shuffle.SortBuffer) Emitter[K, V] {
	var direct any
	switch any(k).(type) {
	case keys.Bytes:
		direct = &bytesSort[V]{buffer: buffer, values: v}
		if _, ok := any(v).(keys.Bytes); ok {
			direct = buffer
		}
	case keys.String:
		direct = &stringSort[V]{buffer: buffer, values: v}
	}
	if e, ok := direct.(Emitter[K, V]); ok {
		return e
	}
	return &encoder[K, V]{keys: k, values: v, add: buffer.Emit}
}

// bytesSort is an Emitter for keys that are bytes. It encodes only the value.
type bytesSort[V any] struct {
	buffer *shuffle.SortBuffer
	values keys.Codec[V]
	value  []byte
}

func (e *bytesSort[V]) Emit(k []byte, v V) {
	e.value = e.values.Append(e.value[:0], v)
	e.buffer.Emit(k, e.value)
}

// stringSort is an Emitter for keys that are strings. It encodes only the value.
type stringSort[V any] struct {
	buffer *shuffle.SortBuffer
	values keys.Codec[V]
	value  []byte
}

func (e *stringSort[V]) Emit(k string, v V) {
	e.value = e.values.Append(e.value[:0], v)
	e.buffer.Emit(viewBytes(k), e.value)
}

// viewBytes returns the bytes of s, which must not be changed. The callee copies them before it
// returns.
func viewBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// combinerTask returns the Task that a combiner gets. A combiner may run in a goroutine of
// its own, for records that were mapped long ago. So its Task has no current input and
// writes to no named output.
func combinerTask(t *Task) *Task {
	c := *t
	c.location, c.named, c.totals = nil, nil, nil
	return &c
}

// groupCombiner makes a Combiner that runs the user's combiner over groups of encoded
// records. It calls Setup, but not Close: the records that a combiner emits belong to one
// group.
func groupCombiner[K, V any](emitting *Task, r *route[K, V]) (shuffle.Combiner, error) {
	t := combinerTask(emitting)
	combiner := reducerInstance(r.combiner, r.values)
	if err := callSetup(t, combiner); err != nil {
		return nil, fmt.Errorf("combiner: %w", err)
	}
	c := &groupCombine[K, V]{task: t, combiner: combiner, lentKey: t.lender(), lentValue: t.lender()}
	c.key, c.value = lending(c.lentKey, r.keys.Decode), lending(c.lentValue, r.values.Decode)
	c.values, c.out = c.each, encoder[K, V]{keys: r.keys, values: r.values}
	c.emit = lendEmits[K, V](t, &c.out)
	return c.combine, nil
}

// groupCombine runs a combiner on one group at a time. It reuses its buffers for all groups.
// The collector calls it from one goroutine at a time, which may differ from the mapper's.
type groupCombine[K, V any] struct {
	task     *Task
	key      func(encoded []byte) (K, error)
	value    func(encoded []byte) (V, error)
	combiner Reducer[K, V, K, V]
	values   iter.Seq[V] // method value of each, made once
	group    *shuffle.Values
	out      encoder[K, V]
	emit     Emitter[K, V] // emits to out
	ended    bool          // a range has reached the last value of the group
	err      error         // error of decoding a value, or of a range after the end

	lentKey, lentValue *poison.Lender
}

// combine implements shuffle.Combiner. emit takes the encoded records that replace the group.
func (c *groupCombine[K, V]) combine(key []byte, values *shuffle.Values, emit func(key, value []byte)) error {
	k, err := c.key(slices.Clip(key)) // the values of the group follow it in memory
	if err != nil {
		return fmt.Errorf("decoding a key: %w", err)
	}
	c.group, c.out.add, c.ended = values, emit, false
	err = c.combiner.Reduce(c.task, k, c.values, c.emit)
	c.lentKey.End()
	c.lentValue.End()
	if c.err != nil {
		return errors.Join(err, c.err)
	}
	return err
}

// each ranges over the values of the current group, as groupLoop.values does.
func (c *groupCombine[K, V]) each(yield func(V) bool) {
	if c.ended {
		c.err = fmt.Errorf("combiner: %w", rangedAgain(c.task, "values"))
		return
	}
	for c.group.Next() {
		v, err := c.value(c.group.Value())
		if err != nil {
			c.err = fmt.Errorf("decoding a value: %w", err)
			return
		}
		if !yield(v) {
			return
		}
	}
	c.lentValue.End()
	c.ended = true
}
