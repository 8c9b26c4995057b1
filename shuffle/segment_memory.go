package shuffle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// errIntakeClosed is returned by calls after Close.
var errIntakeClosed = errors.New("shuffle: the intake is closed")

// segmentMemory is the memory of an Intake for segments: one arena with the size of all of
// them together. When a merge has written segments to disk, their pages are reused for the
// next segments. A reduce thus touches fresh memory only until its first spill. This matters
// because the kernel needs more time for a fresh page than to receive its bytes.
//
// A piece has one owner at a time:
//
//	arrival ─► the intake's list of segments in memory ─► a merge to disk
//	   │ failed              │ closed                       │ written
//	   └─────────────────────┴───────► give ◄───────────────┘
//
// The last owner returns the piece, once. The arena is released when the intake is closed
// and all pieces are returned: an arrival may still write into its piece while Close runs.
//
// Its methods must be called with the intake locked.
type segmentMemory struct {
	size   int64    // bytes of the arena
	used   int64    // bytes of all pieces; at most size
	arena  []byte   // nil before the first piece and after the last
	free   freeList // ranges of the arena that belong to no piece
	closed bool     // take fails; the arena is released with the last piece
}

// piece is a part of an arena.
type piece struct {
	extent
	bytes []byte
}

// front cuts n bytes off the front of a piece.
func (p *piece) front(n int64) piece {
	f := piece{extent{p.from, p.from + n}, p.bytes[:n:n]}
	p.from, p.bytes = p.from+n, p.bytes[n:]
	return f
}

// take returns a piece of n bytes with arbitrary content. ok is false if no free range is
// long enough until other pieces are returned. An empty piece need not be returned.
func (m *segmentMemory) take(n int64) (p piece, ok bool, err error) {
	if m.closed {
		return piece{}, false, errIntakeClosed
	}
	if n == 0 {
		return piece{}, true, nil
	}
	if m.arena == nil {
		if m.arena, err = arenas.take(int(m.size)); err != nil {
			return piece{}, false, err
		}
		m.free = freeList{{0, m.size}}
	}
	e, ok := m.free.take(n)
	if !ok {
		return piece{}, false, nil
	}
	m.used += n
	return piece{e, m.arena[e.from:e.to:e.to]}, true, nil
}

// give returns a piece, which must not be used after that.
func (m *segmentMemory) give(e extent) {
	if e.length() == 0 {
		return
	}
	m.free.give(e)
	m.used -= e.length()
	m.releaseUnused()
}

// giveSegments returns the pieces of segments.
func (m *segmentMemory) giveSegments(segments []Source) {
	for i := range segments {
		m.give(segments[i].place)
	}
}

// close ends the use of the memory. Pieces that are still used are returned later.
func (m *segmentMemory) close() {
	m.closed = true
	m.releaseUnused()
}

// releaseUnused releases the arena of a closed intake once no piece of it is used.
func (m *segmentMemory) releaseUnused() {
	if m.closed && m.used == 0 {
		arenas.give(m.arena)
		m.arena, m.free = nil, nil
	}
}

// extent is a range of bytes of an arena.
type extent struct{ from, to int64 }

func (e extent) length() int64 { return e.to - e.from }

// freeList holds the free ranges of an arena: ascending, not empty, and not adjacent. An
// intake has few segments at a time, so a list is searched faster than a tree.
type freeList []extent

// take cuts n bytes, more than 0, off the first range that is long enough. This reuses
// memory that was used before, and leaves the rest of the arena untouched.
func (f *freeList) take(n int64) (e extent, ok bool) {
	for i := range *f {
		free := &(*f)[i]
		if free.length() < n {
			continue
		}
		e = extent{free.from, free.from + n}
		free.from = e.to
		if free.length() == 0 {
			*f = slices.Delete(*f, i, i+1)
		}
		return e, true
	}
	return extent{}, false
}

// give returns a range that take has cut off, or a non-empty part of it. It joins the range
// with its free neighbours. It panics if the range is free already: a piece was returned
// twice, and two segments in the same memory would corrupt the output.
func (f *freeList) give(e extent) {
	i, _ := slices.BinarySearchFunc(*f, e.from, func(free extent, from int64) int {
		return cmp.Compare(free.from, from)
	})
	before := i > 0 && (*f)[i-1].to >= e.from
	after := i < len(*f) && (*f)[i].from <= e.to
	if before && (*f)[i-1].to > e.from || after && (*f)[i].from < e.to {
		panic(fmt.Sprintf("shuffle: bytes %d to %d of an arena are free already", e.from, e.to))
	}
	switch {
	case before && after:
		(*f)[i-1].to = (*f)[i].to
		*f = slices.Delete(*f, i, i+1)
	case before:
		(*f)[i-1].to = e.to
	case after:
		(*f)[i].from = e.from
	default:
		*f = slices.Insert(*f, i, e)
	}
}
