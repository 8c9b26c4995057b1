package shuffle

import (
	"context"
	"errors"
	"fmt"
)

// spill writes the table, one run per partition, and empties it. The spill of a SortBuffer
// runs in the background, while the spill of a FoldTable is synchronous: no second table
// exists to receive records meanwhile.
func (t *FoldTable[V]) spill(ctx context.Context) {
	live := t.compact()
	parts, err := t.sorted(live)
	if err == nil {
		err = t.file.spill(ctx, func(w *dataWriter, p int) error {
			for i := range parts[p] {
				e := &live[parts[p][i].at]
				t.encoded = t.fold.Append(t.encoded[:0], e.v)
				w.addPair(t.keyBytes(e), t.encoded)
			}
			return nil
		})
	}
	if err != nil && t.err == nil {
		t.err = err
	}
	t.stats.CombineOut += int64(len(live))
	t.stats.Spills, t.stats.SpilledRecords = int64(t.file.spills), t.file.spilled
	clear(t.entries)
	t.long.reset()
	t.used, t.values = 0, 0
}

// compact moves the entries that hold keys to the front of the table. Their slots are then
// meaningless, so the caller must clear the table.
func (t *FoldTable[V]) compact() []foldEntry[V] {
	n := 0
	for i := range t.entries {
		if t.entries[i].size > 0 {
			t.entries[n] = t.entries[i]
			n++
		}
	}
	return t.entries[:n]
}

// foldKeys gives the sorter the keys of entries.
type foldKeys[V any] struct {
	table *FoldTable[V]
	live  []foldEntry[V]
}

func (k foldKeys[V]) keyOf(at uint32) []byte { return k.table.keyBytes(&k.live[at]) }

// sorted returns the entries of each partition in key order. entry.at is the index in live.
// Keys are unique, so the order of equal keys does not matter here.
func (t *FoldTable[V]) sorted(live []foldEntry[V]) ([][]entry, error) {
	n := len(live)
	space := make([]entry, 2*n)
	sorted, tmp := space[:n], space[n:]
	partition := make([]uint32, n)
	next := make([]int, t.opts.Partitions+1)
	for i := range live {
		p := t.opts.Partition(t.keyBytes(&live[i]))
		if uint(p) >= uint(t.opts.Partitions) {
			return nil, fmt.Errorf("partition %d: the partitioner must return 0 to less than %d", p, t.opts.Partitions)
		}
		partition[i] = uint32(p)
		next[p+1]++
	}
	for p := range t.opts.Partitions {
		next[p+1] += next[p]
	}
	s := sorter{foldKeys[V]{t, live}}
	parts := make([][]entry, t.opts.Partitions)
	for p := range parts {
		parts[p] = sorted[next[p]:next[p+1]]
	}
	for i := range live {
		prefix, rest := sortKey(t.keyBytes(&live[i]))
		p := partition[i]
		sorted[next[p]] = entry{prefix, rest, uint32(i)}
		next[p]++
	}
	for _, part := range parts {
		s.sort(part, tmp[:len(part)])
	}
	return parts, nil
}

// mergeGroup has the type groupWriter: it folds the values of a key from several spills, in the
// order of the spills. Values with pointers are decoded from a copy, because Decode may keep
// its argument and the merge reuses the memory.
func (t *FoldTable[V]) mergeGroup(w *dataWriter, key []byte, values valueSource) error {
	var acc V
	n := int64(0)
	for ; values.NextValue(); n++ {
		src := values.Value()
		if t.owned {
			src = append([]byte(nil), src...)
		}
		v, err := t.fold.Decode(src)
		if err != nil {
			return fmt.Errorf("fold: value of key %q: %w", clip(key), err)
		}
		if n == 0 {
			acc = v
		} else {
			acc = t.fold.Fold(acc, v)
		}
	}
	t.encoded = t.fold.Append(t.encoded[:0], acc)
	w.addPair(key, t.encoded)
	t.stats.CombineIn += n
	t.stats.CombineOut++
	return nil
}

// Finish writes the table, merges the spills if there are many, and returns the index. After
// an error no file remains.
func (t *FoldTable[V]) Finish(ctx context.Context) (*Index, error) {
	if t.finished {
		return nil, errors.New("collector: already finished or aborted")
	}
	t.drain()
	if t.err == nil && t.used > 0 {
		t.spill(ctx)
	}
	t.release()
	t.stats.CombineIn += t.stats.Records
	if t.err != nil {
		return nil, errors.Join(t.err, t.file.abort(ctx))
	}
	x, err := t.file.finish(ctx, t.mergeGroup)
	if err != nil {
		t.err = err
		return nil, errors.Join(err, t.file.abort(ctx))
	}
	t.stats.SpilledRecords, t.stats.MaterializedBytes = t.file.spilled, x.DataLength
	return x, nil
}

// Abort ends the collector and removes its files. After Finish it does nothing.
func (t *FoldTable[V]) Abort() error {
	if t.finished {
		return nil
	}
	t.release()
	t.fail(errors.New("collector aborted"))
	return t.file.abort(t.ctx)
}

// release drops the table and returns its memory. No record may be added after it.
func (t *FoldTable[V]) release() {
	t.finished = true
	t.entries, t.limit, t.used, t.long = nil, 0, 0, longKeys{}
	arenas.give(t.arena)
	t.arena = nil
}
