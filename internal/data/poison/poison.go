// Package poison overwrites memory that was lent and is no longer valid, so that code which keeps
// a view of it computes with bytes that no record has.
//
// The property hammr.debug.poison switches it on for a job. The engine reuses the memory of records
// for later records, so code that keeps a view sees wrong bytes only if a later record happens to
// lie there: in a large group, or after a spill. With poison every such view is wrong.
//
//	value := lender.Lend(bytes)   // a copy in memory of its own
//	use(value)
//	lender.Lend(more)             // the first copy is overwritten, as by End
package poison

import "bytes"

// pattern is no UTF-8, and no length or number that tests use.
const pattern = 0xDB

// Fill overwrites b, whose bytes are no longer valid.
func Fill(b []byte) {
	for i := range b {
		b[i] = pattern
	}
}

// On reports whether memory that was lent is overwritten, where the configuration says configured.
func On(configured bool) bool { return Always || configured }

// Lender lends the bytes of one record at a time. A nil Lender lends them as they are, without a
// copy. One goroutine uses it.
type Lender struct {
	lent []byte // what Lend has returned last
}

// New returns a Lender that overwrites what it has lent, or nil if on is false.
func New(on bool) *Lender {
	if !on {
		return nil
	}
	return new(Lender)
}

// Lend returns a copy of b, which is valid until the next call of Lend or End. Each copy has its
// own memory, so that later records do not appear in what was lent before.
func (l *Lender) Lend(b []byte) []byte {
	if l == nil {
		return b
	}
	l.End()
	l.lent = bytes.Clone(b)
	return l.lent
}

// End overwrites what Lend has returned last.
func (l *Lender) End() {
	if l != nil {
		Fill(l.lent)
		l.lent = nil
	}
}
