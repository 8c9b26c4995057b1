package shuffle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/data/poison"
)

// errIntakeClosed is returned by calls after Close.
var errIntakeClosed = errors.New("shuffle: the intake is closed")

// segmentMemory is the memory of an Intake for segments: one arena with the size of all of
// them together. Behind it the arena has untouched pages, for which it takes memory from a
// budget before they are used:
//
//	| size, grown of it from the budget | untouched |
//	0                                               len(arena)
//
// It keeps what it takes until the end. When a merge has written segments to disk, their pages are reused for the
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
	budget *Budget  // memory for grow; may be nil
	size   int64    // bytes of the arena that may be used
	grown  int64    // bytes of size that are from the budget
	used   int64    // bytes of all pieces; at most size
	arena  []byte   // nil before the first piece and after the last
	free   freeList // ranges of the arena that belong to no piece
	poison bool     // overwrite a piece that is returned
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
	if err := m.open(); err != nil {
		return piece{}, false, err
	}
	e, ok := m.free.take(n)
	if !ok {
		return piece{}, false, nil
	}
	m.used += n
	return piece{e, m.arena[e.from:e.to:e.to]}, true, nil
}

// open makes the arena. If the system refuses one that can grow, it makes one that cannot.
func (m *segmentMemory) open() (err error) {
	if m.arena != nil {
		return nil
	}
	size := m.size
	if arenasOutsideHeap {
		size += m.budget.bytes()
	}
	if m.arena, err = arenas.take(int(size)); err != nil && size > m.size {
		m.arena, err = arenas.take(int(m.size))
	}
	m.free = freeList{{0, m.size}}
	return err
}

// grow makes n more bytes usable. It returns false if the budget has less.
func (m *segmentMemory) grow(n int64) bool {
	if n <= 0 || m.closed || m.open() != nil || n > int64(len(m.arena))-m.size || !m.budget.TryTake(n) {
		return false
	}
	m.free.give(extent{m.size, m.size + n})
	m.size += n
	m.grown += n
	return true
}

// give returns a piece, which must not be used after that.
func (m *segmentMemory) give(e extent) {
	if e.length() == 0 {
		return
	}
	if m.poison {
		poison.Fill(m.arena[e.from:e.to])
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
	if !m.closed || m.used > 0 {
		return
	}
	if m.grown > 0 {
		arenas.discard(m.arena)
	} else {
		arenas.give(m.arena)
	}
	m.budget.Give(m.grown)
	m.arena, m.free, m.grown = nil, nil, 0
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
