package shuffle

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// entry represents a record while it is sorted: 16 bytes that are moved instead of the
// record.
type entry struct {
	prefix uint64 // sort key of the record's key
	rest   uint32 // rest of the sort key: three bytes of the key, and its capped length
	at     uint32 // where the record is: an offset in a batch, or an index in a FoldTable
}

// keyStore finds the keys of entries.
type keyStore interface {
	keyOf(at uint32) []byte
	// touchKeys loads the keys of a few entries into the cache. The processor overlaps these
	// loads, while it would execute the loads of comparisons one after another.
	touchKeys(entries []entry)
}

// touchAhead is how many entries are touched before their keys are used.
const touchAhead = 64

// sorter sorts entries by key and keeps entries of equal keys in order. It is a radix sort
// from the most significant byte of the sort key, with insertion sort for few entries. If
// sort keys are equal and keys are longer, the entries get new sort keys from deeper in the
// keys, after their common prefix. Each byte of a key is thus looked at only a few times.
//
//	radix: digit ─► count ─► all equal? skip to the first byte that differs
//	                     └─► scatter by digit ─► radix of each of 256 parts
//	       all 12 bytes equal and keys longer ─► deepen, from byte 0
type sorter struct {
	keys keyStore
}

const (
	// insertionMax is the number of entries up to which insertion sort is used.
	insertionMax = 24
	// sortKeyDigits is the number of bytes of a sort key.
	sortKeyDigits = 12
)

// sort sorts a. tmp must have space for as many entries.
func (s *sorter) sort(a, tmp []entry) {
	varying := differences(a)
	s.radix(a, tmp, firstVarying(&varying, 0), 0, &varying)
}

// radix sorts entries that agree before byte at of their sort keys. The sort keys begin
// depth bytes into the keys, and differ at most in the bits of varying. It recurses per
// digit, at most sortKeyDigits deep between two calls of deepen.
func (s *sorter) radix(a, tmp []entry, at, depth int, varying *entry) {
	var starts [257]uint32
	for len(a) > insertionMax {
		if at == sortKeyDigits {
			if wholeSortKey(a[0].rest) {
				return
			}
			equal := false
			if depth, equal = s.deepen(a, depth+sortKeyBytes); equal {
				return
			}
			deeper := differences(a)
			at, varying = firstVarying(&deeper, 0), &deeper
		}
		d := digitAt(varying, at)
		starts = [257]uint32{}
		d.count(a, &starts)
		if starts[d.of(&a[0])+1] == uint32(len(a)) {
			diff := differences(a)
			at = firstVarying(&diff, at+d.bytes)
			continue
		}
		d.scatter(a, tmp, &starts)
		for i := range 256 {
			lo, hi := starts[i], starts[i+1]
			if hi-lo > 1 {
				s.radix(a[lo:hi], tmp[lo:hi], at+d.bytes, depth, varying)
			}
		}
		return
	}
	s.insertion(a, depth)
}

// deepen gives new sort keys to entries whose keys agree in their first depth bytes. The
// sort keys begin where the keys differ; deepen returns that depth. The old ones are lost:
// nothing compares these entries with others any more. Entries of equal keys need no sort
// keys.
func (s *sorter) deepen(a []entry, depth int) (common int, equal bool) {
	first := s.keys.keyOf(a[0].at)
	common = len(first)
	equal = true
	for rest := a; len(rest) > 0; {
		some := rest[:min(len(rest), touchAhead)]
		s.keys.touchKeys(some)
		for i := range some {
			key := s.keys.keyOf(some[i].at)
			common = depth + commonPrefix(first[depth:common], key[depth:])
			equal = equal && len(key) == len(first)
		}
		rest = rest[len(some):]
	}
	if equal && common == len(first) {
		return common, true
	}
	for rest := a; len(rest) > 0; {
		some := rest[:min(len(rest), touchAhead)]
		s.keys.touchKeys(some)
		for i := range some {
			some[i].prefix, some[i].rest = sortKey(s.keys.keyOf(some[i].at)[common:])
		}
		rest = rest[len(some):]
	}
	return common, false
}

// commonPrefix returns the number of bytes that a and b have in common at their start.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// insertion sorts few entries. It moves an entry only over greater ones, which keeps equal
// keys in order.
func (s *sorter) insertion(a []entry, depth int) {
	if len(a) > 2 && a[0].prefix == a[1].prefix && a[0].rest == a[1].rest && !wholeSortKey(a[0].rest) {
		s.keys.touchKeys(a)
	}
	for i := 1; i < len(a); i++ {
		e := a[i]
		j := i
		for ; j > 0; j-- {
			p := &a[j-1]
			if p.prefix < e.prefix || p.prefix == e.prefix && !s.lessRest(&e, p, depth) {
				break
			}
			a[j] = *p
		}
		a[j] = e
	}
}

// lessRest compares entries of equal prefix.
func (s *sorter) lessRest(e, p *entry, depth int) bool {
	if e.rest != p.rest || wholeSortKey(e.rest) {
		return e.rest < p.rest
	}
	return s.lessKey(e, p, depth+sortKeyBytes)
}

// lessKey compares entries of equal sort keys by their keys, which agree before byte from.
func (s *sorter) lessKey(e, p *entry, from int) bool {
	return bytes.Compare(s.keys.keyOf(e.at)[from:], s.keys.keyOf(p.at)[from:]) < 0
}

// A sort key is the first part of a key as two numbers that compare as the key's bytes do:
//
//	prefix  bytes 0..7, big-endian, padded with zeros
//	rest    bytes 8..10, then min(length, 12) in the low byte
//
// Keys of up to 11 bytes are equal if and only if their sort keys are. Longer keys with
// equal sort keys differ from byte sortKeyBytes on.
const (
	sortKeyBytes  = 11
	sortKeyCapped = 12 // low byte of rest: the key is longer than sortKeyBytes
)

// sortKey returns the sort key of key.
func sortKey(key []byte) (prefix uint64, rest uint32) {
	n := len(key)
	switch {
	case n > sortKeyBytes:
		return binary.BigEndian.Uint64(key), binary.BigEndian.Uint32(key[8:])&^0xff | sortKeyCapped
	case n >= 8:
		tail := binary.BigEndian.Uint32(key[n-4:])
		return binary.BigEndian.Uint64(key), tail<<(8*(12-uint(n))) | uint32(n)
	case n >= 4:
		head, tail := binary.BigEndian.Uint32(key), binary.BigEndian.Uint32(key[n-4:])
		return uint64(head)<<32 | uint64(tail)<<(8*(8-uint(n)))&0xffffffff, uint32(n)
	}
	for i, c := range key {
		prefix |= uint64(c) << (56 - 8*uint(i))
	}
	return prefix, uint32(n)
}

// wholeSortKey reports whether a key with this rest is contained in its sort key.
func wholeSortKey(rest uint32) bool { return rest&0xff < sortKeyCapped }
