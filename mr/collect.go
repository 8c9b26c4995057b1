package mr

import (
	"fmt"

	"github.com/hammr/hammr/internal/keys"
	"github.com/hammr/hammr/shuffle"
	"unsafe"
)

// collect makes the collector of an attempt and the emitter that feeds it: a fold table if
// the combiner folds, a sort buffer otherwise. opts describes the collector, except for what
// the route knows.
func (r *route[K, V]) collect(t *Task, opts shuffle.Options) (Emitter[K, V], shuffle.Collector, error) {
	var err error
	if opts.Partition, err = r.partitioner(t, opts.Partitions); err != nil {
		return nil, nil, err
	}
	if f, ok := r.combiner.(folding[V]); ok {
		table, err := shuffle.NewFoldTable(t.Context(), opts, shuffle.Fold[V]{
			Fold: f.folder(), Append: r.values.Append, Decode: ownedDecode(r.values),
		})
		if err != nil {
			return nil, nil, err
		}
		return foldEmitter(r.keys, table), table, nil
	}
	if r.combiner != nil {
		if opts.Combine, err = r.groupCombiner(t); err != nil {
			return nil, nil, err
		}
	}
	buffer, err := shuffle.NewSortBuffer(t.Context(), opts)
	if err != nil {
		return nil, nil, err
	}
	return sortEmitter(r.keys, r.values, buffer), buffer, nil
}

// partitioner returns the function that assigns encoded keys to reduces; nil for the
// default.
func (r *route[K, V]) partitioner(t *Task, n int) (func(key []byte) int, error) {
	switch {
	case n == 1:
		return func([]byte) int { return 0 }, nil
	case r.partition != nil:
		return r.userPartition(n), nil
	case r.totalOrder != nil:
		return rangePartition(t)
	case r.groupFirst:
		groupLen := r.groupPrefix()
		return func(key []byte) int { return shuffle.HashPartition(key[:groupLen(key)], n) }, nil
	}
	return nil, nil
}

func (r *route[K, V]) userPartition(n int) func(key []byte) int {
	return func(key []byte) int {
		k, err := r.keys.Decode(key)
		if err != nil {
			panic(fmt.Errorf("decoding a key for the partition function: %w", err))
		}
		p := r.partition(k, n)
		if p < 0 || p >= n {
			panic(fmt.Errorf("partition function: %d for key %v, not within 0 to %d", p, k, n-1))
		}
		return p
	}
}

// groupPrefix returns the function that measures the part of an encoded key that identifies
// its group; nil if that is the whole key.
func (r *route[K, V]) groupPrefix() func(key []byte) int {
	if !r.groupFirst {
		return nil
	}
	grouper := r.keys.(keys.Grouper)
	return func(key []byte) int {
		n, err := grouper.GroupLen(key)
		if err != nil {
			panic(fmt.Errorf("grouping a key: %w", err))
		}
		return n
	}
}

// encoder is an Emitter that encodes both halves of a record.
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

// foldEmitter feeds a fold table. Keys that are bytes or strings go in directly; others are
// encoded first.
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

type stringFold[V any] struct{ table *shuffle.FoldTable[V] }

func (e *stringFold[V]) Emit(k string, v V) { e.table.Emit(viewBytes(k), v) }

type codedFold[K, V any] struct {
	codec keys.Codec[K]
	table *shuffle.FoldTable[V]
	key   []byte
}

func (e *codedFold[K, V]) Emit(k K, v V) {
	e.key = e.codec.Append(e.key[:0], k)
	e.table.Emit(e.key, v)
}

// sortEmitter feeds a sort buffer. It saves the encoding of keys and values that are bytes
// or strings.
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

type bytesSort[V any] struct {
	buffer *shuffle.SortBuffer
	values keys.Codec[V]
	value  []byte
}

func (e *bytesSort[V]) Emit(k []byte, v V) {
	e.value = e.values.Append(e.value[:0], v)
	e.buffer.Emit(k, e.value)
}

type stringSort[V any] struct {
	buffer *shuffle.SortBuffer
	values keys.Codec[V]
	value  []byte
}

func (e *stringSort[V]) Emit(k string, v V) {
	e.value = e.values.Append(e.value[:0], v)
	e.buffer.Emit(viewBytes(k), e.value)
}

// viewBytes returns the bytes of s, which must not be changed.
func viewBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// ownedDecode decodes values that remain valid when the encoded bytes change.
func ownedDecode[V any](c keys.Codec[V]) func([]byte) (V, error) {
	if !isBytes[V]() {
		return c.Decode
	}
	return func(src []byte) (V, error) { return c.Decode(append([]byte(nil), src...)) }
}
