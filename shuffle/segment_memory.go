package shuffle

import "errors"

// errIntakeClosed is what those get that come after Close.
var errIntakeClosed = errors.New("shuffle: the intake is closed")

// segmentMemory is where an Intake keeps segments: one arena of as many bytes as
// all of them may take. What a merge has written to disk makes room for what
// comes next in the same pages, so that a reduce touches fresh memory only until
// it spills for the first time; for every page that costs the kernel more than
// receiving it.
//
// A piece belongs to the arrival that took it, from its commit on to the
// intake's list of segments in memory, and to a merge while that writes it to
// disk. Whoever has it last gives it back, once. The arena goes when the intake
// is closed and nobody has a piece.
//
// Its methods are called with the intake locked.
type segmentMemory struct {
	size   int64
	used   int64  // bytes of all pieces; <= size
	arena  []byte // nil before the first piece and after the last
	free   freeList
	closed bool
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

// take returns a piece of n bytes, whose content is arbitrary; ok is false when
// there is none until others are given back. A piece of no bytes need not be
// given back.
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

// give takes back a piece, which nobody may read or write any more.
func (m *segmentMemory) give(e extent) {
	if e.length() == 0 {
		return
	}
	m.free.give(e)
	m.used -= e.length()
	m.releaseUnused()
}

// giveSegments takes back the pieces of segments.
func (m *segmentMemory) giveSegments(segments []Source) {
	for i := range segments {
		m.give(segments[i].place)
	}
}

// close makes an end. Pieces that are still out are given back later.
func (m *segmentMemory) close() {
	m.closed = true
	m.releaseUnused()
}

func (m *segmentMemory) releaseUnused() {
	if m.closed && m.used == 0 {
		arenas.give(m.arena)
		m.arena, m.free = nil, nil
	}
}
