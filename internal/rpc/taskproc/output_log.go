package taskproc

import (
	"iter"
	"sort"
)

// OutputLog lists the outputs that were written for one edge. Finished and revoked outputs
// are always appended, so that a reader that has the first n entries needs only the rest.
// The rest is read in parts of bounded size. The bytes of a part are encoded once for all
// readers:
//
//	entries  [ m0 m1 m2 … │ m700 m701 … │ revoke m1, m1' ]
//	                block │       block │ tail
//
// An output that is revoked is also removed from its entry, so that no later reader gets it.
// The revocation stays, since a reader may have the output.
//
// The zero value is an empty log. One goroutine uses it; the bytes of its parts may be shared.
type OutputLog struct {
	Complete bool // the outputs of all writers are in the log

	entries []outputEntry
	blocks  []outputBlock   // all entries but those of the tail; each but the last is full
	tail    int             // estimated bytes of the entries after the blocks
	packed  map[span][]byte // encoded parts that are no blocks; dropped by each change
}

// outputEntry is an output, or an attempt whose output is revoked; neither: an output that
// was revoked.
type outputEntry struct {
	output  *MapOutput
	revoked string
}

// outputBlock is a full part of the log.
type outputBlock struct {
	end    int    // number of the entry after its last
	packed []byte // its encoding; nil if it is not encoded yet
}

// span is the entries from the first number up to the second.
type span struct{ from, to int }

// OutputPart is a part of a log.
type OutputPart struct {
	From, Next int    // number of its first entry, and of the entry after its last
	Packed     []byte // PackedOutputs
	Complete   bool   // with it, a reader has the outputs of all writers
}

const (
	// partBytes is the size from which a part of the log is full, in bytes. A master sends
	// parts to perhaps thousands of machines at the same time, so they are small.
	partBytes = 64 << 10

	// entryBytes is roughly the size of an encoded entry without its set of empty partitions.
	entryBytes = 40
)

// Len returns the number of entries.
func (l *OutputLog) Len() int { return len(l.entries) }

// Add appends an output. The log keeps it, and it must not be changed.
func (l *OutputLog) Add(o *MapOutput) {
	l.add(outputEntry{output: o}, entryBytes+len(o.Empty))
}

// Revoke appends the revocation of the outputs of attempts. Its cost is linear in the length
// of the log.
func (l *OutputLog) Revoke(attempts []string) {
	if len(attempts) == 0 {
		return
	}
	revoked := make(map[string]bool, len(attempts))
	for _, a := range attempts {
		revoked[a] = true
	}
	for i, e := range l.entries {
		if e.output != nil && revoked[e.output.Attempt] {
			l.entries[i] = outputEntry{}
			l.forgetBlock(i)
		}
	}
	for _, a := range attempts {
		l.add(outputEntry{revoked: a}, entryBytes)
	}
}

// add appends an entry of roughly that many bytes.
func (l *OutputLog) add(e outputEntry, bytes int) {
	l.packed = nil
	l.entries = append(l.entries, e)
	if l.tail += bytes; l.tail >= partBytes {
		l.blocks, l.tail = append(l.blocks, outputBlock{end: len(l.entries)}), 0
	}
}

// forgetBlock drops the encoding of the block that has an entry.
func (l *OutputLog) forgetBlock(entry int) {
	if b := l.blockOf(entry); b < len(l.blocks) {
		l.blocks[b].packed = nil
	}
	l.packed = nil
}

// blockOf returns the index of the block that has an entry, or the number of blocks if the
// entry is in the tail.
func (l *OutputLog) blockOf(entry int) int {
	return sort.Search(len(l.blocks), func(b int) bool { return l.blocks[b].end > entry })
}

// Outputs yields the outputs that are not revoked, in order.
func (l *OutputLog) Outputs() iter.Seq[*MapOutput] {
	return func(yield func(*MapOutput) bool) {
		for _, e := range l.entries {
			if e.output != nil && !yield(e.output) {
				return
			}
		}
	}
}

// Since returns the entries from the given number on, in parts. If there are none, it returns
// one part without entries.
func (l *OutputLog) Since(from int) (parts []OutputPart) {
	for {
		part := l.part(from)
		part.Complete = l.Complete && part.Next == len(l.entries)
		parts, from = append(parts, part), part.Next
		if from == len(l.entries) {
			return parts
		}
	}
}

// part returns the entries from the given number to the end of their block.
func (l *OutputLog) part(from int) OutputPart {
	i, start, end := l.blockOf(from), 0, len(l.entries)
	if i > 0 {
		start = l.blocks[i-1].end
	}
	if i == len(l.blocks) || from > start {
		if i < len(l.blocks) {
			end = l.blocks[i].end
		}
		return OutputPart{From: from, Next: end, Packed: l.encoded(span{from, end})}
	}
	b := &l.blocks[i]
	if b.packed == nil {
		b.packed = packOutputs(l.between(from, b.end))
	}
	return OutputPart{From: from, Next: b.end, Packed: b.packed}
}

// encoded returns the encoding of a part that is no block. Most readers ask for the same
// part, since they have the same number of entries.
func (l *OutputLog) encoded(s span) []byte {
	if b, known := l.packed[s]; known {
		return b
	}
	if l.packed == nil {
		l.packed = make(map[span][]byte)
	}
	l.packed[s] = packOutputs(l.between(s.from, s.to))
	return l.packed[s]
}

// News returns what a reader with the given number of entries does not know: revoked attempts, and outputs that
// were written after that.
func (l *OutputLog) News(from int) (outputs []*MapOutput, revoked []string) {
	outputs, revoked = l.between(from, len(l.entries))
	if from == 0 {
		revoked = nil // the reader has nothing that could be revoked
	}
	return outputs, revoked
}

// between returns the content of entries.
func (l *OutputLog) between(from, to int) (outputs []*MapOutput, revoked []string) {
	for _, e := range l.entries[from:to] {
		switch {
		case e.output != nil:
			outputs = append(outputs, e.output)
		case e.revoked != "":
			revoked = append(revoked, e.revoked)
		}
	}
	return outputs, revoked
}
