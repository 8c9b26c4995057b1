package shuffle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hammr/hammr/internal/data/poison"
)

// MergeOptions configure a Merge.
type MergeOptions struct {
	// GroupPrefix returns the length of the part of a key that identifies its group; nil
	// stands for the whole key. Keys of one group must be adjacent.
	GroupPrefix func(key []byte) int

	// Poison overwrites each block once all of its records have been read.
	Poison bool
}

// Merge is the merged stream of several runs: ordered by key, and equal keys by rank. One
// goroutine may use it.
//
// It is a loser tree (Knuth, The Art of Computer Programming, volume 3, section 5.4.1). Each
// inner node holds the head that lost there, so that a new head is compared once per level.
// For five sources:
//
//	       top              the winner of all
//	        1
//	    2       3           1 to 4: tree, the losers
//	  4   s0  s1  s2        source i is the leaf n+i
//	s3 s4
//
// A head has the sort key of its source's current record. Most comparisons need only that.
// Keys that agree in it are compared by their bytes, and equal keys by the number of their
// rank.
//
// A record with the key and the rank of the one before it, from the same source, also precedes
// the heads of all other sources. So it stays on top, and is compared with none of them.
type Merge struct {
	readers []*runReader  // one reader per source
	starts  []RunPosition // positions where reading began, for Positions before the first record
	ranks   []rank        // ranks of all sources, ascending
	dense   [][]uint32    // indexes in ranks by source and tag; an untagged run has the tag 0
	tree    []head        // losers at the inner nodes 1..n-1
	top     head          // winner
	started bool          // whether the tree is built
	repeats bool          // the current record has the key and the source of the one before it
	opts    MergeOptions
	files   []io.Closer // files of the sources, each opened once; Close closes them
	err     error
}

// head is the sort key of a source's current record.
type head struct {
	prefix uint64 // first 8 bytes of the sort key; all ones for an exhausted source
	rest   uint32 // rest of the sort key; or exhausted
	source uint32 // index in readers
}

// exhausted is the value of rest for a source without further records; no key has this rest.
const exhausted = ^uint32(0)

// NewMerge opens sources, each at its From. The Merge must be closed.
func NewMerge(ctx context.Context, sources []Source, o MergeOptions) (*Merge, error) {
	o.Poison = poison.On(o.Poison)
	m := &Merge{opts: o, readers: make([]*runReader, 0, len(sources))}
	if err := m.open(ctx, sources); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.rankSources(sources)
	return m, nil
}

// open opens each file once, however many runs of it are merged.
func (m *Merge) open(ctx context.Context, sources []Source) error {
	opened := make(map[string]io.ReaderAt)
	for i := range sources {
		s := &sources[i]
		file, err := m.file(ctx, s, opened)
		if err != nil {
			return err
		}
		r, err := newRunReader(ctx, file, s, m.opts.Poison)
		if err != nil {
			return err
		}
		m.readers = append(m.readers, r)
		m.starts = append(m.starts, s.From)
	}
	return nil
}

// file returns the file of a source: its memory, or a file that is opened at its first run.
func (m *Merge) file(ctx context.Context, s *Source, opened map[string]io.ReaderAt) (io.ReaderAt, error) {
	if s.memory != nil {
		return s.memory, nil
	}
	name := s.FS.URI() + s.Path
	if file, ok := opened[name]; ok {
		return file, nil
	}
	file, err := s.FS.Open(ctx, s.Path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.Path, err)
	}
	m.files = append(m.files, file)
	opened[name] = file
	return file, nil
}

// rankSources numbers the ranks of all sources densely, so that equal keys are ordered by
// comparing two numbers.
func (m *Merge) rankSources(sources []Source) {
	var all []rank
	own := make([][]rank, len(sources))
	for i, s := range sources {
		own[i] = m.readers[i].ranks
		if !s.Run.Tagged {
			own[i] = []rank{s.rank()}
		}
		all = append(all, own[i]...)
	}
	all = sortRanks(all)
	m.ranks = all
	m.dense = make([][]uint32, len(sources))
	for i, tags := range own {
		dense := make([]uint32, len(tags))
		for j, t := range tags {
			at, _ := slices.BinarySearchFunc(all, t, rank.compare)
			dense[j] = uint32(at)
		}
		m.dense[i] = dense
	}
}

// Next advances to the next record. It returns false at the end and after an error. Earlier
// results of Key and Value are no longer valid.
func (m *Merge) Next() bool {
	if m.nextRepeat() {
		return true
	}
	if !m.started {
		return m.start()
	}
	if m.top.rest == exhausted || m.err != nil {
		return false
	}
	if len(m.readers) == 1 {
		m.advance(&m.top)
	} else if m.advanceTop(); !m.repeats {
		m.replay()
	}
	return m.top.rest != exhausted && m.err == nil
}

// nextRepeat does what Next does after a record that repeats a key, if the next record repeats
// it too.
func (m *Merge) nextRepeat() bool { return m.repeats && m.readers[m.top.source].repeat() }

// advanceTop advances the source of the winner. It finds out whether the new record repeats
// the key of the last one.
func (m *Merge) advanceTop() {
	r := m.readers[m.top.source]
	last, cur, tag, sameBlock := m.top, r.cur, r.tag, r.left > 0
	m.advance(&m.top)
	m.repeats = m.top.prefix == last.prefix && m.top.rest == last.rest && r.tag == tag &&
		(wholeSortKey(last.rest) || sameBlock && bytes.Equal(r.data[cur.key:cur.value], r.key()))
}

// takeRepeats advances over records that repeat the key of the current one, and returns their
// bytes, of which there are at most limit, and their number. The last of them becomes current.
func (m *Merge) takeRepeats(limit int) (records []byte, n int) {
	if !m.repeats {
		return nil, 0
	}
	return m.readers[m.top.source].takeRepeats(limit)
}

// start reads the first record of each source and builds the tree, from the leaves to the
// root.
func (m *Merge) start() bool {
	m.started = true
	n := len(m.readers)
	if n == 0 {
		m.top.rest = exhausted
		return false
	}
	winners := make([]head, 2*n)
	for i := range n {
		winners[n+i].source = uint32(i)
		m.advance(&winners[n+i])
	}
	m.tree = make([]head, n)
	for i := n - 1; i >= 1; i-- {
		win, lose := winners[2*i], winners[2*i+1]
		if m.before(&lose, &win) {
			win, lose = lose, win
		}
		winners[i], m.tree[i] = win, lose
	}
	m.top = winners[1]
	return m.top.rest != exhausted && m.err == nil
}

// advance advances a head's source to its next record. A single source needs no sort keys:
// there is nothing to compare with.
func (m *Merge) advance(h *head) {
	r := m.readers[h.source]
	if !r.advance() {
		if r.err != nil && m.err == nil {
			m.err = r.err
		}
		h.prefix, h.rest = ^uint64(0), exhausted
		return
	}
	if len(m.readers) > 1 {
		h.prefix, h.rest = sortKey(r.key())
	} else {
		h.rest = 0
	}
}

// replay moves the new head of the last winner up from its leaf. At each node the smaller
// head wins and moves up, and the other head stays as the loser.
func (m *Merge) replay() {
	tree, cur := m.tree, m.top
	for i := (int(cur.source) + len(tree)) >> 1; i >= 1; i >>= 1 {
		l := &tree[i]
		if l.prefix > cur.prefix {
			continue
		}
		if l.prefix < cur.prefix || m.beforeRest(l, &cur) {
			*l, cur = cur, *l
		}
	}
	m.top = cur
}

// before reports whether the record of head a comes before that of head b.
func (m *Merge) before(a, b *head) bool {
	if a.prefix != b.prefix {
		return a.prefix < b.prefix
	}
	return m.beforeRest(a, b)
}

// beforeRest compares heads of equal prefix.
func (m *Merge) beforeRest(a, b *head) bool {
	if a.rest != b.rest {
		return a.rest < b.rest
	}
	if a.rest == exhausted {
		return a.source < b.source
	}
	if !wholeSortKey(a.rest) {
		c := bytes.Compare(m.readers[a.source].key()[sortKeyBytes:], m.readers[b.source].key()[sortKeyBytes:])
		if c != 0 {
			return c < 0
		}
	}
	return m.earlier(a.source, b.source)
}

// earlier orders equal keys by rank.
func (m *Merge) earlier(a, b uint32) bool {
	x, y := m.rankOf(a), m.rankOf(b)
	return x < y || x == y && a < b
}

// rankOf returns the rank of a source's current record.
func (m *Merge) rankOf(source uint32) uint32 { return m.dense[source][m.readers[source].tag] }

// Key returns the current record's key. It is valid until Next.
func (m *Merge) Key() []byte { return m.readers[m.top.source].key() }

// Value returns the current record's value. It is valid until Next.
func (m *Merge) Value() []byte { return m.readers[m.top.source].value() }

// record returns the current record's bytes, without a tag.
func (m *Merge) record() []byte {
	r := m.readers[m.top.source]
	return r.data[r.cur.start:r.cur.end]
}

// Err returns the first error. Corrupt data wraps storage.ErrCorrupt and names the file and
// the offset.
func (m *Merge) Err() error { return m.err }

// Positions returns the position of each source that was given to NewMerge. A merge of the
// same sources from these positions yields the current record first. Before the first Next,
// Positions returns where reading begins; at the end, it returns the ends of the runs.
func (m *Merge) Positions() []RunPosition {
	if !m.started {
		return slices.Clone(m.starts)
	}
	positions := make([]RunPosition, len(m.readers))
	for i, r := range m.readers {
		positions[i] = r.position()
	}
	return positions
}

// Close closes the files. It may be called twice.
func (m *Merge) Close() error {
	var errs []error
	for _, r := range m.readers {
		r.close()
	}
	for _, f := range m.files {
		errs = append(errs, f.Close())
	}
	m.files = nil
	m.top.rest, m.started, m.repeats = exhausted, true, false
	return errors.Join(errs...)
}

// sourcesAt returns sources with each From set to its position.
func sourcesAt(sources []Source, positions []RunPosition) []Source {
	at := slices.Clone(sources)
	for i := range at {
		at[i].From = positions[i]
	}
	return at
}
