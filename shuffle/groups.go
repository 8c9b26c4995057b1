package shuffle

import "bytes"

// Groups steps through a merge by groups of equal keys, or of keys with equal
// group prefix. Values stream: a group of any size takes the memory of its key.
type Groups struct {
	m     *Merge
	key   []byte // first key of the group, copied
	group []byte // the part of key that decides
	state groupState
	count int64
}

// groupState tells where the merge stands.
type groupState uint8

const (
	atBoundary groupState = iota // on the first record of the next group, or before any record
	atFirst                      // on the first record of the group, not handed out yet
	inGroup                      // on a record that was handed out
	atEnd                        // behind the last record
)

// Groups returns the merge by groups. The merge is not to be stepped otherwise
// any more.
func (m *Merge) Groups() *Groups { return &Groups{m: m} }

// NextGroup goes to the next group, skipping values that were not read; false
// at the end and after an error.
func (g *Groups) NextGroup() bool {
	for g.NextValue() {
	}
	if !g.m.started && !g.m.Next() {
		g.state = atEnd
	}
	if g.state == atEnd {
		return false
	}
	g.key = append(g.key[:0], g.m.Key()...)
	g.group = g.key[:g.prefixLen(g.key)]
	g.state = atFirst
	return true
}

// NextValue goes to the next value of the group; false when there is none.
func (g *Groups) NextValue() bool {
	switch g.state {
	case atFirst:
		g.state = inGroup
		g.count++
		return true
	case inGroup:
		return g.step()
	}
	return false
}

func (g *Groups) step() bool {
	if !g.m.Next() {
		g.state = atEnd
		return false
	}
	key := g.m.Key()
	if bytes.Equal(key[:g.prefixLen(key)], g.group) {
		g.count++
		return true
	}
	g.state = atBoundary
	return false
}

// prefixLen is the length of the part of key that decides its group.
func (g *Groups) prefixLen(key []byte) int {
	if g.m.opts.GroupPrefix == nil {
		return len(key)
	}
	return min(max(g.m.opts.GroupPrefix(key), 0), len(key))
}

// Records is how many values have been handed out or skipped so far.
func (g *Groups) Records() int64 { return g.count }

// Key is the first key of the group. It holds until NextGroup.
func (g *Groups) Key() []byte { return g.key }

// FullKey is the key of the current value; it differs from Key only where there
// is a group prefix. It holds until NextValue.
func (g *Groups) FullKey() []byte { return g.m.Key() }

// Value is the current value. It holds until NextValue.
func (g *Groups) Value() []byte { return g.m.Value() }

// Boundary skips what is left of the group and tells, as Merge.Positions does,
// where the next one begins.
func (g *Groups) Boundary() []RunPosition {
	for g.NextValue() {
	}
	return g.m.Positions()
}

// Err is the first error.
func (g *Groups) Err() error { return g.m.Err() }

// Close closes the merge.
func (g *Groups) Close() error { return g.m.Close() }
