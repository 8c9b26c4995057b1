package hashtable

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// A slot has the tag of a key above its place in the arena plus 1.
const (
	atBits = 40
	atMask = 1<<atBits - 1
)

// slotOf returns the slot of a key with that hash and place.
func slotOf(hash uint64, at int) uint64 { return hash<<atBits | uint64(at+1) }

// Table finds the values of keys. Any number of goroutines may use it.
type Table struct {
	slots   []uint64
	arena   []byte
	keys    int
	records int64
	seed    maphash.Seed // random, so that keys which collide in one process do not in the next
}

// Keys returns the number of keys.
func (t *Table) Keys() int { return t.keys }

// Records returns the number of values of all keys.
func (t *Table) Records() int64 { return t.records }

// Bytes returns the memory that the table takes.
func (t *Table) Bytes() int64 { return int64(cap(t.arena)) + 8*int64(len(t.slots)) }

// Find returns the values of a key. There are none if the table does not have the key.
func (t *Table) Find(key []byte) Values {
	hash := maphash.Bytes(t.seed, key)
	tag := hash << atBits
	for i := t.home(hash); ; {
		slot := t.slots[i]
		if slot == 0 {
			return Values{}
		}
		if slot&^atMask == tag {
			if found, values := t.entry(int(slot&atMask) - 1); string(found) == string(key) {
				return Values{rest: values, more: true}
			}
		}
		if i++; i == uint64(len(t.slots)) {
			i = 0
		}
	}
}

// entry returns the key at a place of the arena, and the arena from its first value on.
func (t *Table) entry(at int) (key, values []byte) {
	rest := t.arena[at:]
	n, width := uvarint(rest)
	rest = rest[width:]
	return rest[:n], rest[n:]
}

// Values are the values of a key, in order. The zero value has none.
type Values struct {
	rest []byte // the arena from the next value on
	more bool   // there is a next value
}

// Next returns the next value; false after the last.
func (v *Values) Next() (value []byte, ok bool) {
	if !v.more {
		return nil, false
	}
	value, v.rest, v.more = nextValue(v.rest)
	return value, true
}

// nextValue returns the value at the start of src and what follows it. more reports whether
// that is a value of the same key.
func nextValue(src []byte) (value, rest []byte, more bool) {
	header, width := uvarint(src)
	rest = src[width:]
	n := header >> 1
	return rest[:n:n], rest[n:], header&1 != 0
}

// uvarint decodes a number. The short form covers nearly all lengths, and is inlined.
func uvarint(src []byte) (n uint64, width int) {
	if b := src[0]; b < 0x80 {
		return uint64(b), 1
	}
	return longUvarint(src)
}

//go:noinline
func longUvarint(src []byte) (n uint64, width int) { return binary.Uvarint(src) }

// uvarintLen returns the number of bytes of a uvarint.
func uvarintLen(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }
