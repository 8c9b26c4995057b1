package mr

import (
	"fmt"
	"iter"
	"unsafe"

	"github.com/hammr/hammr/internal/data/hashtable"
	"github.com/hammr/hammr/internal/data/keys"
)

// Lookup finds the records of a Side by their keys, in a hash table in memory. All tasks and
// Nodes of a process that look up in one side share the table, which takes little more memory
// than the side. The table has the records in encoded form: a look-up decodes the values that
// it returns.
//
// Get and All do not allocate if keys and values are numbers, strings or []byte. Strings may be
// kept, and keep all of the table in memory; a []byte is valid until the task ends, and must
// not be changed. One goroutine uses a Lookup.
type Lookup[K, V any] struct {
	side   *Side[K, V]
	table  *hashtable.Table
	ahead  hashtable.Ahead
	decode func([]byte) (V, error)
	direct bool   // keys are strings or []byte, encoded as their bytes
	key    []byte // scratch for an encoded key
}

// Lookup returns the side for look-ups. Call it in Setup and keep the result. The first Node of
// a process that calls it builds the hash table. If the side cannot be read, the task fails.
func (s *Side[K, V]) Lookup(t *Task) *Lookup[K, V] {
	err := s.side.checkGiven(t)
	var table *hashtable.Table
	if err == nil {
		table, err = t.node.SideTable(s.side.from.name)
	}
	if err != nil {
		panic(thrown{s.side.errorOf(err)})
	}
	return newLookup(s, table)
}

// newLookup returns the Lookup of a side in its table.
func newLookup[K, V any](s *Side[K, V], table *hashtable.Table) *Lookup[K, V] {
	return &Lookup[K, V]{
		side: s, table: table, ahead: table.Ahead(), decode: viewDecode(s.route.values), direct: isDirect(s.route.keys),
	}
}

// errorOf adds the stage of the side to an error.
func (s *side) errorOf(err error) error {
	return fmt.Errorf("side of stage %q: %w", s.from.name, err)
}

// Get returns the first value of a key, in the order of All; false if the side does not have the
// key.
func (l *Lookup[K, V]) Get(key K) (value V, found bool) {
	l.ahead.Flush()
	values := l.table.Find(l.encode(&key))
	encoded, found := values.Next()
	if !found {
		return value, false
	}
	return l.decoded(encoded), true
}

// All ranges over the values of a key, in the order that Group gives to values. There are none
// if the side does not have the key.
func (l *Lookup[K, V]) All(key K) iter.Seq[V] {
	return func(yield func(V) bool) {
		l.ahead.Flush()
		values := l.table.Find(l.encode(&key))
		for encoded, ok := values.Next(); ok; encoded, ok = values.Next() {
			if !yield(l.decoded(encoded)) {
				return
			}
		}
	}
}

// Len returns the number of different keys.
func (l *Lookup[K, V]) Len() int { return l.table.Keys() }

// Ahead announces a key that will be looked up soon. Announce some tens of keys and then look
// them up, and their cache misses overlap. That pays if the side is larger than the caches of
// the processor; see LooksAhead.
func (l *Lookup[K, V]) Ahead(key K) { l.ahead.Announce(l.encode(&key)) }

// encode returns the encoded key, which is valid until the next call.
func (l *Lookup[K, V]) encode(key *K) []byte {
	if l.direct {
		return viewBytes(*(*string)(unsafe.Pointer(key))) // a []byte also begins with its place and its length
	}
	l.key = l.side.route.keys.Append(l.key[:0], *key)
	return l.key
}

// decoded decodes a value.
func (l *Lookup[K, V]) decoded(encoded []byte) V {
	value, err := l.decode(encoded)
	if err != nil {
		panic(thrown{l.side.side.errorOf(fmt.Errorf("decoding a value: %w", err))})
	}
	return value
}

// isDirect reports whether the encodings of a codec are the bytes of its strings or slices.
func isDirect[T any](codec keys.Codec[T]) bool {
	switch any(codec).(type) {
	case keys.Bytes, keys.String:
		return true
	}
	return false
}

// viewDecode returns a decoder of bytes that do not change: its strings are views of them.
func viewDecode[T any](codec keys.Codec[T]) func([]byte) (T, error) {
	if _, ok := any(codec).(keys.String); !ok {
		return codec.Decode
	}
	decode, _ := any(keys.StringView{}.Decode).(func([]byte) (T, error))
	return decode
}
