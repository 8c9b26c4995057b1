package shuffle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// spill writes the table and empties it.
func (t *FoldTable[V]) spill(ctx context.Context) {
	t.write(ctx)
	t.empty()
}

// write writes the table, one run per partition. The spill of a SortBuffer runs in the
// background, while the spill of a FoldTable is synchronous: no second table exists to
// receive records meanwhile.
func (t *FoldTable[V]) write(ctx context.Context) {
	t.file.noteCut(t.stats.Records)
	parts, err := t.sorted()
	if err == nil {
		err = t.file.spill(ctx, func(w *dataWriter, p int) error {
			t.writeRun(w, parts[p])
			return nil
		})
	}
	if err != nil && t.err == nil {
		t.err = err
	}
	t.stats.CombineOut += int64(t.used)
	t.stats.Spills, t.stats.SpilledRecords = int64(t.file.spills), t.file.spilled
}

// writeRun writes entries in their order.
func (t *FoldTable[V]) writeRun(w *dataWriter, order []entry) {
	for len(order) > 0 && w.err == nil {
		some := order[:min(len(order), touchAhead)]
		t.touchKeys(some)
		for i := range some {
			e := &t.entries[some[i].at]
			t.encoded = t.fold.Append(t.encoded[:0], e.v)
			w.addPair(t.keyBytes(e), t.encoded)
		}
		order = order[len(some):]
	}
}

// touchKeys implements keyStore. It loads first all entries and then all long keys: the
// loads of one kind do not depend on each other, so the processor overlaps them.
func (t *FoldTable[V]) touchKeys(order []entry) {
	touched, long := uint32(0), false
	for i := range order {
		size := t.entries[order[i].at].size
		touched += size
		long = long || size > inlineKey+1
	}
	for i := 0; long && i < len(order); i++ {
		if e := &t.entries[order[i].at]; e.size > inlineKey+1 {
			touched += uint32(t.keyBytes(e)[0])
		}
	}
	t.touched = touched
}

// keyOf implements keyStore.
func (t *FoldTable[V]) keyOf(at uint32) []byte { return t.keyBytes(&t.entries[at]) }

// sorted returns the entries of each partition in key order. entry.at is the slot. Keys are
// unique, so the order of equal keys does not matter here.
func (t *FoldTable[V]) sorted() ([][]entry, error) {
	return t.sortedEntries(t.used, t.counts, t, func(sorted []entry, next []int) {
		for from := 0; from < len(t.entries); from += touchAhead {
			t.place(sorted, next, from, min(from+touchAhead, len(t.entries)))
		}
	})
}

// sortedEntries sorts n entries of each partition by their keys. place adds them to sorted, each
// at the index that next has for its partition, and advances that index.
func (t *FoldTable[V]) sortedEntries(n int, counts []int, keys keyStore, place func(sorted []entry, next []int)) ([][]entry, error) {
	sorted, tmp, err := t.sortSpace(n)
	if err != nil {
		return nil, err
	}
	parts, next := make([][]entry, len(counts)), make([]int, len(counts))
	at := 0
	for p, n := range counts {
		parts[p], next[p] = sorted[at:at+n], at
		at += n
	}
	place(sorted, next)
	s := sorter{keys}
	for _, part := range parts {
		s.sort(part, tmp[:len(part)])
	}
	return parts, nil
}

// place adds the keys of some slots to their partitions. Slots lie next to each other, but
// long keys do not.
func (t *FoldTable[V]) place(sorted []entry, next []int, from, to int) {
	slots := t.entries[from:to]
	if len(t.long.chunks) > 0 {
		touched := uint32(0)
		for i := range slots {
			if e := &slots[i]; e.size > inlineKey+1 {
				touched += uint32(t.keyBytes(e)[0])
			}
		}
		t.touched = touched
	}
	for i := range slots {
		e := &slots[i]
		if e.size == 0 {
			continue
		}
		prefix, rest := sortKey(t.keyBytes(e))
		sorted[next[e.part]] = entry{prefix, rest, uint32(from + i)}
		next[e.part]++
	}
}

// mergeGroup has the type groupWriter: it folds the values of a key from several spills, in the
// order of the spills.
func (t *FoldTable[V]) mergeGroup(w *dataWriter, key []byte, values valueSource) error {
	n, err := t.foldGroup(w, key, values)
	t.stats.CombineIn += n
	return err
}

// foldGroup writes a key with its values folded, and returns how many it was given. A value that
// is alone is written as it is, and so are two that cannot be folded.
func (t *FoldTable[V]) foldGroup(w *dataWriter, key []byte, values valueSource) (int64, error) {
	if t.opts.Poison {
		values = lendValues(values)
	}
	values.NextValue() // a group has a value
	t.encoded = append(t.encoded[:0], values.Value()...)
	n := int64(1)
	if values.NextValue() {
		acc, err := t.decode(t.encoded)
		for again := true; again && err == nil; again = values.NextValue() {
			var v V
			if v, err = t.decode(values.Value()); err != nil {
				break
			}
			n++
			if folded, ok := t.fold.Fold(acc, v); ok {
				acc = folded
			} else {
				t.writeFolded(w, key, t.fold.Append(t.encoded[:0], acc))
				acc = v
			}
		}
		if err != nil {
			return n, fmt.Errorf("fold: value of key %q: %w", clip(key), err)
		}
		t.encoded = t.fold.Append(t.encoded[:0], acc)
	}
	t.writeFolded(w, key, t.encoded)
	return n, nil
}

func (t *FoldTable[V]) writeFolded(w *dataWriter, key, value []byte) {
	w.addPair(key, value)
	t.stats.CombineOut++
}

// decode decodes a value. A value that may refer to the bytes gets a copy of them, because
// the merge reuses the memory.
func (t *FoldTable[V]) decode(src []byte) (V, error) {
	if len(t.refs.others) > 0 {
		src = bytes.Clone(src)
	}
	return t.fold.Decode(src)
}

// Finish writes the table, merges the spills if there are many, and returns the index. After
// an error no file remains.
func (t *FoldTable[V]) Finish(ctx context.Context) (*Index, error) {
	if t.finished {
		return nil, errors.New("collector: already finished or aborted")
	}
	for again := true; again; again = t.pendingCount > 0 && t.err == nil { // passOn may emit
		t.drain()
	}
	switch {
	case t.err != nil:
	case t.log != nil && t.log.records > 0:
		t.writeLog(ctx)
	case t.used > 0:
		t.write(ctx)
	}
	t.finished, t.used = true, 0
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
	t.stats.Sums = Sums{Emitted: 1 + t.keySum, Cuts: t.file.cuts}
	return x, nil
}

// Abort ends the collector and removes its files. After Finish it does nothing.
func (t *FoldTable[V]) Abort() error {
	if t.finished {
		return nil
	}
	t.finished, t.used = true, 0
	t.release()
	t.fail(errors.New("collector aborted"))
	return t.file.abort(t.ctx)
}
