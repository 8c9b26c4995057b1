package cluster

import (
	"iter"
	"math/bits"
)

// numberSet is a set of small numbers, kept as bits. Adding and removing take constant time,
// and iteration is in ascending order.
type numberSet struct {
	words []uint64
	count int // of bits set in words
	low   int // no word before this one has a bit set
}

// add makes n a member. The words grow up to it.
func (s *numberSet) add(n int) {
	w := n / 64
	for len(s.words) <= w {
		s.words = append(s.words, 0)
	}
	if s.words[w]&(1<<(n%64)) == 0 {
		if s.words[w] |= 1 << (n % 64); s.count == 0 || w < s.low {
			s.low = w
		}
		s.count++
	}
}

// remove removes n from the set, if it is a member.
func (s *numberSet) remove(n int) {
	if !s.has(n) {
		return
	}
	s.words[n/64] &^= 1 << (n % 64)
	s.count--
	for s.low < len(s.words) && s.words[s.low] == 0 {
		s.low++
	}
}

// has reports whether n is a member. A nil set has none.
func (s *numberSet) has(n int) bool {
	return s != nil && n/64 < len(s.words) && s.words[n/64]&(1<<(n%64)) != 0
}

// hasWithin reports whether a member is at least first and less than end.
func (s *numberSet) hasWithin(first, end int) bool {
	for n := max(first, s.low*64); n < min(end, len(s.words)*64); n++ {
		if s.has(n) {
			return true
		}
	}
	return false
}

// all yields the members in ascending order. A nil set has none.
func (s *numberSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		if s == nil {
			return
		}
		for w := s.low; w < len(s.words); w++ {
			for rest := s.words[w]; rest != 0; rest &= rest - 1 {
				if !yield(w*64 + bits.TrailingZeros64(rest)) {
					return
				}
			}
		}
	}
}
