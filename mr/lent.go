package mr

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/poison"
)

// Under hammr.debug.poison, the bytes that user code and the engine lend to each other are copies,
// which are overwritten once they are no longer valid (package poison):
//
//	records of a file               until the next record             lentRecords
//	encoded keys and values         until the next one, or the end    Task.lender, lending
//	records of a pipe               until Map returns                 lendRecord
//	what user code emits            until Emit or Write returns       lentEmitter, lentWriter
//	a buffer for a file             until Write returns               sink
//	pending bytes and saved state   until Resume or Load returns      openOutput, setUp

// lender returns a Lender for records of the attempt; nil without poison.
func (t *Task) lender() *poison.Lender { return poison.New(t.poisoned()) }

// poisoned reports whether the job runs with hammr.debug.poison.
func (t *Task) poisoned() bool { return t.node.Poisoned() }

// lending returns decode for encoded bytes that l lends.
func lending[T any](l *poison.Lender, decode func(encoded []byte) (T, error)) func(encoded []byte) (T, error) {
	if l == nil {
		return decode
	}
	return func(encoded []byte) (T, error) { return decode(l.Lend(encoded)) }
}

// lentRecords returns an Opener of readers whose keys and values are lent.
func lentRecords(open format.Opener) format.Opener {
	return func(ctx context.Context, o format.Open) (format.Reader, error) {
		r, err := open(ctx, o)
		if err != nil {
			return nil, err
		}
		return &lentReader{Reader: r, key: poison.New(true), value: poison.New(true)}, nil
	}
}

// lentReader lends the records of a Reader.
type lentReader struct {
	format.Reader
	key, value           *poison.Lender
	lentKey, lentValue   []byte
	keyIsLent, valueLent bool // of the current record
}

// Next implements format.Reader.
func (r *lentReader) Next() bool {
	r.end()
	return r.Reader.Next()
}

// end overwrites the current record.
func (r *lentReader) end() {
	r.key.End()
	r.value.End()
	r.keyIsLent, r.valueLent = false, false
}

// Key implements format.Reader.
func (r *lentReader) Key() []byte {
	if !r.keyIsLent {
		r.lentKey, r.keyIsLent = r.key.Lend(r.Reader.Key()), true
	}
	return r.lentKey
}

// Value implements format.Reader.
func (r *lentReader) Value() []byte {
	if !r.valueLent {
		r.lentValue, r.valueLent = r.value.Lend(r.Reader.Value()), true
	}
	return r.lentValue
}

// Close implements format.Reader.
func (r *lentReader) Close() error {
	r.end()
	return r.Reader.Close()
}

// lent returns a function that calls use with v, in which each []byte at a fixed offset is a copy
// that is overwritten when use returns.
func lent[T any]() func(v T, use func(T)) {
	places, fixed := byteSliceOffsets(reflect.TypeFor[T](), 0)
	if !fixed {
		places = nil
	}
	lenders := make([]poison.Lender, len(places))
	return func(v T, use func(T)) {
		for i, place := range places {
			b := (*[]byte)(unsafe.Add(unsafe.Pointer(&v), place))
			*b = lenders[i].Lend(*b)
		}
		use(v)
		for i := range lenders {
			lenders[i].End()
		}
	}
}

// lendRecord returns record for keys and values that are lent until it returns.
func lendRecord[K, V any](t *Task, record func(K, V) error) func(K, V) error {
	if !t.poisoned() {
		return record
	}
	lentKey, lentValue := lent[K](), lent[V]()
	return func(key K, value V) (err error) {
		lentKey(key, func(key K) { lentValue(value, func(value V) { err = record(key, value) }) })
		return err
	}
}

// lentEmitter lends what is emitted until Emit returns.
type lentEmitter[K, V any] struct {
	record func(K, V) error
}

// lentWriter lends what is written until Write returns.
type lentWriter[K, V any] struct {
	RecordWriter[K, V]
	record func(K, V) error
}

// lendWrites returns out, or with poison a RecordWriter that lends out what it gets.
func lendWrites[K, V any](t *Task, out RecordWriter[K, V]) RecordWriter[K, V] {
	if !t.poisoned() {
		return out
	}
	return lentWriter[K, V]{out, lendRecord(t, out.Write)}
}

// Write implements RecordWriter.
func (w lentWriter[K, V]) Write(key K, value V) error { return w.record(key, value) }

// lendEmits returns an emitter for user code: out, or with poison one that lends out what it gets.
func lendEmits[K, V any](t *Task, out Emitter[K, V]) Emitter[K, V] {
	if !t.poisoned() {
		return out
	}
	return lentEmitter[K, V]{lendRecord(t, func(key K, value V) error {
		out.Emit(key, value)
		return nil
	})}
}

// Emit implements Emitter.
func (e lentEmitter[K, V]) Emit(key K, value V) { _ = e.record(key, value) } // the error is nil
