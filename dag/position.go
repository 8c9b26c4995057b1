package dag

import (
	"cmp"
	"fmt"
)

// Position names a place between two records of an input. A reader finds it in two steps.
// First it moves to the first place at or after Offset where the format can begin to read: a
// line start, a sync marker, a compressed block. Then it skips Skip records.
//
// Offset counts bytes, Skip counts records; both are at least 0.
type Position struct {
	Offset int64 `cbor:"1,keyasint,omitempty"`
	Skip   int64 `cbor:"2,keyasint,omitempty"`
}

// Compare orders positions by offset, then by skipped records.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Offset, q.Offset), cmp.Compare(p.Skip, q.Skip))
}

// Less reports whether p precedes q. Readers call it for each record, so it is short enough
// for the compiler to inline.
func (p Position) Less(q Position) bool {
	return p.Offset < q.Offset || p.Offset == q.Offset && p.Skip < q.Skip
}

// String returns the offset, with the skipped records after a plus sign if there are any:
// 4096+3.
func (p Position) String() string {
	if p.Skip == 0 {
		return fmt.Sprint(p.Offset)
	}
	return fmt.Sprintf("%d+%d", p.Offset, p.Skip)
}

// Range has the records whose first byte is at or after Start and before End. A record
// that begins before End belongs to the range as a whole, however far it reaches. Ranges
// [a,b) and [b,c) together have exactly the records of [a,c), for any b.
type Range struct {
	Start Position `cbor:"1,keyasint,omitzero"`
	End   Position `cbor:"2,keyasint,omitzero"`
}

// Empty reports whether the range cannot have a record.
func (r Range) Empty() bool { return !r.Start.Less(r.End) }

// Contains reports whether p lies in the range.
func (r Range) Contains(p Position) bool { return !p.Less(r.Start) && p.Less(r.End) }

func (r Range) String() string { return fmt.Sprintf("[%v,%v)", r.Start, r.End) }
