package mr

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/task"
)

// A batch is sent through memory when it has this many records, or this many copied bytes.
const (
	batchRecords = 256
	batchBytes   = 64 << 10
)

// batch holds records on their way from one Node of a process to another.
// The receiver owns a batch that was sent; the sender begins another. The receiver recycles a
// batch when its records have been used: they are valid only while a function gets them.
type batch[K, V any] struct {
	keys   []K
	values []V
	arena
	unused *sync.Pool // unused batches of the sender
	poison bool       // overwrite the bytes of a batch that is recycled
}

// recycle gives the batch back to its sender, without references to what it held.
func (b *batch[K, V]) recycle() {
	if b.poison {
		poison.Fill(b.arena.bytes)
	}
	clear(b.keys)
	clear(b.values)
	b.keys, b.values, b.arena.bytes = b.keys[:0], b.values[:0], b.arena.bytes[:0]
	if cap(b.arena.bytes) <= 2*batchBytes {
		b.unused.Put(b)
	}
}

// full reports whether the batch is to be sent.
func (b *batch[K, V]) full() bool {
	return len(b.keys) >= batchRecords || len(b.arena.bytes) >= batchBytes
}

// each passes the records to a function, in order, until it returns an error.
func (b *batch[K, V]) each(record func(K, V) error) error {
	for i := range b.keys {
		if err := record(b.keys[i], b.values[i]); err != nil {
			return err
		}
	}
	return nil
}

// sharedWriters is the writing end of a channel in memory. It collects a batch for each
// peer, so that the two goroutines synchronize once for many records.
type sharedWriters[K, V any] struct {
	ctx     context.Context
	route   *route[K, V]
	choice  peerChoice
	key     copyFunc[K]
	value   copyFunc[V]
	writers []*task.SharedWriter // by peer
	open    []*batch[K, V]       // the batch being filled, by peer
	unused  *sync.Pool           // of *batch[K, V]
	poison  bool
	encoded []byte // scratch
	err     error  // the first error; it remains
}

// openShared opens the writing ends of a channel in memory, one for each peer.
func openShared[K, V any](t *Task, n *task.NodeRun, edge task.Channel, r *route[K, V]) (targetWriter[K, V], error) {
	s := &sharedWriters[K, V]{ctx: t.Context(), route: r, key: copyFuncOf(r.keys), value: copyFuncOf(r.values), unused: new(sync.Pool), poison: t.poisoned()}
	var err error
	if s.choice, err = choosePeers(t, edge, r); err != nil {
		return nil, err
	}
	for _, peer := range edge.Peers {
		s.writers = append(s.writers, n.SendShared(edge, peer))
		s.open = append(s.open, s.newBatch())
	}
	return s, nil
}

// newBatch returns an empty batch, a recycled one if there is one.
func (s *sharedWriters[K, V]) newBatch() *batch[K, V] {
	if b, ok := s.unused.Get().(*batch[K, V]); ok {
		return b
	}
	return &batch[K, V]{unused: s.unused, poison: s.poison}
}

// Emit implements Emitter.
func (s *sharedWriters[K, V]) Emit(key K, value V) {
	switch {
	case s.choice.all:
		for peer := range s.open {
			s.add(peer, key, value)
		}
	case s.choice.pick != nil:
		s.encoded = s.route.keys.Append(s.encoded[:0], key)
		s.add(s.choice.pick(s.encoded), key, value)
	default:
		s.add(0, key, value)
	}
}

// add puts a record into the batch for a peer. Each peer gets a copy of its own.
func (s *sharedWriters[K, V]) add(peer int, key K, value V) {
	b := s.open[peer]
	if b.keys == nil {
		b.keys, b.values = make([]K, 0, batchRecords), make([]V, 0, batchRecords)
	}
	b.keys = append(b.keys, s.key.of(&b.arena, key))
	b.values = append(b.values, s.value.of(&b.arena, value))
	if b.full() {
		s.send(peer)
	}
}

// send sends the batch of a peer and begins another.
func (s *sharedWriters[K, V]) send(peer int) {
	b := s.open[peer]
	s.open[peer] = s.newBatch()
	if len(b.keys) == 0 || s.err != nil {
		return
	}
	s.err = s.writers[peer].Send(s.ctx, b)
}

func (s *sharedWriters[K, V]) error() error { return s.err }

// end sends the remaining records and marks the ends. After an error the peers fail with the
// attempt, so no end is marked.
func (s *sharedWriters[K, V]) end(paused bool) error {
	for peer := range s.open {
		s.send(peer)
	}
	if s.err != nil {
		return s.err
	}
	for _, w := range s.writers {
		w.End(paused)
	}
	return nil
}

// receiveShared passes each batch to take, with the number of the Node that wrote it. The batch
// is valid until take returns.
func receiveShared[K, V any](t *Task, n *task.NodeRun, edge task.Channel, take func(writer int, b *batch[K, V]) error) error {
	r := n.ReceiveShared(edge)
	for {
		got, from, ok, err := r.Receive(t.Context())
		if err != nil || !ok {
			return err
		}
		b := got.(*batch[K, V])
		if err := take(from, b); err != nil {
			return err
		}
		b.recycle()
	}
}

// arena holds copies of the bytes in a batch of records.
type arena struct{ bytes []byte }

// copy returns a copy of b in the arena.
func (a *arena) copy(b []byte) []byte {
	start := len(a.bytes)
	a.bytes = append(a.bytes, b...)
	return a.bytes[start:len(a.bytes):len(a.bytes)]
}

// copyFunc returns a copy of v that is valid as long as the arena, although the emitter may
// reuse the memory of v. nil stands for values that need no copy.
type copyFunc[T any] func(a *arena, v T) T

// of returns v or a copy of it.
func (f copyFunc[T]) of(a *arena, v T) T {
	if f == nil {
		return v
	}
	return f(a, v)
}

// ownDecoded chooses a copyFunc for values that a codec has decoded: those of a codec whose values
// never refer to the encoded bytes need no copy.
func ownDecoded[T any](codec keys.Codec[T]) copyFunc[T] {
	if keys.Detached(codec) {
		return nil
	}
	return copyFuncOf(codec)
}

// copyFuncOf chooses a copyFunc, once for each channel or reducer. Numbers, strings and structs of
// them need no copy. A []byte at a fixed offset in the value is copied. The emitter may reuse the
// memory that pointers, other slices and maps refer to. Values with such references are
// therefore encoded and decoded, as if they passed through a file.
func copyFuncOf[T any](codec keys.Codec[T]) copyFunc[T] {
	places, fixed := byteSliceOffsets(reflect.TypeFor[T](), 0)
	switch {
	case !fixed && codec == nil:
		return recode(valueCodec[T]())
	case !fixed:
		return recode(codec)
	case len(places) == 0:
		return nil
	}
	return func(a *arena, v T) T {
		for _, place := range places {
			b := (*[]byte)(unsafe.Add(unsafe.Pointer(&v), place))
			*b = a.copy(*b)
		}
		return v
	}
}

// copiesInPlace reports whether copyFuncOf copies values without encoding them.
func copiesInPlace[T any]() bool {
	_, fixed := byteSliceOffsets(reflect.TypeFor[T](), 0)
	return fixed
}

// byteSliceOffsets returns the offsets, in bytes from the start of a value, of each []byte.
// fixed is false for types that refer to memory in any other way.
func byteSliceOffsets(t reflect.Type, at uintptr) (places []uintptr, fixed bool) {
	switch t.Kind() {
	case reflect.Slice:
		return []uintptr{at}, t.Elem().Kind() == reflect.Uint8
	case reflect.Struct:
		for i := range t.NumField() {
			within, ok := byteSliceOffsets(t.Field(i).Type, at+t.Field(i).Offset)
			if !ok {
				return nil, false
			}
			places = append(places, within...)
		}
		return places, true
	case reflect.Array:
		return nil, t.Len() == 0 || hasNoPointers(t.Elem())
	case reflect.Pointer, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return nil, false
	}
	return nil, true
}

// hasNoPointers reports whether values of a type can be copied as they are.
func hasNoPointers(t reflect.Type) bool {
	places, fixed := byteSliceOffsets(t, 0)
	return fixed && len(places) == 0
}

// recode returns a copyFunc that encodes and decodes a value. The encoded bytes stay in the
// arena, because a decoded value may refer to them.
func recode[T any](codec keys.Codec[T]) copyFunc[T] {
	var scratch []byte
	return func(a *arena, v T) T {
		scratch = codec.Append(scratch[:0], v)
		kept, err := codec.Decode(a.copy(scratch))
		if err != nil {
			panic(thrown{fmt.Errorf("decoding what was emitted: %w", err)})
		}
		return kept
	}
}
