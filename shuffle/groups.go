package shuffle

import "bytes"

// Groups steps through a merge by groups of equal keys, or of keys with equal group
// prefixes. Values stream: a group of any size takes only the memory of its key. One
// goroutine uses it.
type Groups struct {
	m     *Merge
	key   []byte // first key of the group, copied
	group []byte // the part of key that identifies the group
	state groupState
	count int64 // values returned or skipped
}

// groupState is the position of the merge relative to the group.
//
//	          NextGroup              NextValue             NextValue: same group
//	atBoundary ───────► atFirst ───────────────► inGroup ─────┐
//	   ▲                                          │  ▲────────┘
//	   ├── NextValue: key of another group ───────┤
//	   │                                          ▼ NextValue: no record
//	   └── before the first record               atEnd
type groupState uint8

const (
	atBoundary groupState = iota // on the first record of the next group, or before any record
	atFirst                      // on the first record of the group, not yet returned
	inGroup                      // on a record that was returned
	atEnd                        // after the last record
)

// Groups returns the merge by groups. After this call only Groups may advance the merge.
func (m *Merge) Groups() *Groups { return &Groups{m: m} }

// NextGroup advances to the next group and skips values that were not read. It returns false
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

// NextValue advances to the next value of the group. It returns false if there is none.
func (g *Groups) NextValue() bool {
	switch g.state {
	case atFirst:
		g.state = inGroup
		g.count++
		return true
	case inGroup:
		if g.m.nextRepeat() {
			g.count++
			return true
		}
		return g.step()
	}
	return false
}

// step advances the merge and reports whether the new record belongs to the group. If it
// does not, it stays current, and NextGroup begins with it.
func (g *Groups) step() bool {
	if !g.m.Next() {
		g.state = atEnd
		return false
	}
	if key := g.m.Key(); g.m.repeats || bytes.Equal(key[:g.prefixLen(key)], g.group) {
		g.count++
		return true
	}
	g.state = atBoundary
	return false
}

// prefixLen returns the length of the part of key that identifies its group.
func (g *Groups) prefixLen(key []byte) int {
	if g.m.opts.GroupPrefix == nil {
		return len(key)
	}
	return min(max(g.m.opts.GroupPrefix(key), 0), len(key))
}

// Records returns the number of values returned or skipped so far.
func (g *Groups) Records() int64 { return g.count }

// Key returns the first key of the group. It is valid until NextGroup.
func (g *Groups) Key() []byte { return g.key }

// FullKey returns the key of the current value. It differs from Key only if there is a group
// prefix. It is valid until NextValue.
func (g *Groups) FullKey() []byte { return g.m.Key() }

// Value returns the current value. It is valid until NextValue.
func (g *Groups) Value() []byte { return g.m.Value() }

// Ordinal returns the origin of the current value.
func (g *Groups) Ordinal() Ordinal { return g.m.ranks[g.m.rankOf(g.m.top.source)].ordinal }

// Boundary skips the rest of the group and returns where the next group begins, in the form
// of Merge.Positions.
func (g *Groups) Boundary() []RunPosition {
	for g.NextValue() {
	}
	return g.m.Positions()
}

// Err returns the first error.
func (g *Groups) Err() error { return g.m.Err() }

// Close closes the merge.
func (g *Groups) Close() error { return g.m.Close() }
