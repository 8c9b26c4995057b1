package shuffle

import (
	"bytes"
	"context"
)

// A table of keys that hardly repeat combines little, and each of its records costs a cache
// miss. Such a table is bypassed: records are encoded and appended to a log, and equal keys
// are folded where sorting brings them together.
//
//	table ── full, keys hardly repeat: spill, startBypass ──► log
//	table ── a value cannot be folded: spill, startBypass ──► log
//	  ▲                                                        │ full: spill
//	  └───────────── keys repeat: spill ───────────────────────┘
//
// The runs of the log follow those of the table in the data file, so the values of a key are
// folded in the order in which they were added.

// keysAreDistinct reports whether keys have repeated so rarely since the last spill that a
// larger table would combine little.
func (t *FoldTable[V]) keysAreDistinct() bool {
	return (t.stats.Records-t.spilledRecords)*8 < int64(t.used)*9
}

// startBypass replaces the table by a log, and moves its entries there.
func (t *FoldTable[V]) startBypass() {
	t.log = newRecordLog(t.opts.Memory, len(t.counts), t.opts.Poison)
	for i := range t.entries {
		if e := &t.entries[i]; e.size > 0 && t.err == nil {
			t.log.value = t.fold.Append(t.log.value[:0], e.v)
			t.addToLog(int(e.part), t.keyBytes(e))
		}
	}
	t.releaseTable()
	clear(t.counts)
	t.used, t.values = 0, 0
	t.resize(minSlots)
}

// unfoldedRecord is a record that waits for passOn.
type unfoldedRecord[V any] struct {
	key []byte
	v   V
}

// setAside keeps a record that cannot be folded into its entry. It will be counted again.
func (t *FoldTable[V]) setAside(e *foldEntry[V], p *pendingFold[V]) {
	key := bytes.Clone(t.keyBytes(e))
	t.unfolded = append(t.unfolded, unfoldedRecord[V]{key, p.v})
	t.stats.Records--
	t.stats.Bytes -= int64(len(key))
}

// passOn adds the records that were set aside to the log, which may have several records of one
// key. So a table that cannot fold is bypassed for as long as its keys hardly repeat or the log
// has space: folds that fail are rare, or the sums of the job do not fit anyway.
func (t *FoldTable[V]) passOn() {
	var err error
	defer func() { t.fail(err) }()
	defer recoverTo(&err)
	records := t.unfolded
	t.unfolded = nil
	if t.log == nil {
		if t.spill(t.ctx); t.err == nil {
			t.startBypass()
		}
	}
	for _, r := range records {
		if t.err == nil {
			t.Emit(r.key, r.v)
		}
	}
}

// append adds a record to the log.
func (t *FoldTable[V]) append(key []byte, v V) {
	if t.err != nil {
		return
	}
	p := t.opts.Partition(key)
	if uint(p) >= uint(len(t.counts)) {
		t.fail(t.opts.partitionError(p))
		return
	}
	t.log.value = t.fold.Append(t.log.value[:0], v)
	if t.addToLog(p, key) {
		t.keySum += t.sumEncodedKey(key)
		t.stats.Records++
		t.stats.Bytes += int64(len(key))
	} else if t.err == nil { // the table is used again
		t.Emit(key, v)
	}
}

// addToLog adds a key with the value in log.value to the log. It returns false if there is no log any
// more, and after an error.
func (t *FoldTable[V]) addToLog(partition int, key []byte) bool {
	if n := loggedLen(partition, len(key), len(t.log.value)); !t.log.fits(n) {
		if t.enlargeLog(n); t.log == nil || t.err != nil {
			return false
		}
	}
	t.log.add(partition, key, t.log.value)
	return true
}

// enlargeLog makes the log large enough for a record of n bytes, or spills it.
func (t *FoldTable[V]) enlargeLog(n int) {
	need := t.log.memoryWith(n) - t.capacity()
	if t.log.full() || need > 0 && t.log.records > 0 && !t.borrowForLog(need) {
		if t.spillLog(); t.log == nil || t.err != nil {
			return
		}
	}
	t.fail(t.log.enlarge(n, t.capacity()))
}

// borrowForLog takes memory from the budget: as much as the log lacks, better a quarter of what
// it has.
func (t *FoldTable[V]) borrowForLog(need int64) bool {
	for _, n := range []int64{max(need, t.capacity()/4), need} {
		if t.opts.Budget.TryTake(n) {
			t.borrowed += n
			return true
		}
	}
	return false
}

// spillLog writes the log and empties it. If half of its records or fewer remain once equal keys
// are folded, the table serves further records better.
func (t *FoldTable[V]) spillLog() {
	before, in := t.stats.CombineOut, int64(t.log.records)
	t.writeLog(t.ctx)
	repeat := (t.stats.CombineOut-before)*2 <= in
	t.log.reset(t.borrowed == 0)
	if t.borrowed > 0 || repeat {
		t.giveArena(t.space)
		t.opts.Budget.Give(t.borrowed)
		t.space, t.borrowed = nil, 0
	}
	if repeat {
		t.log.release()
		t.log, t.spilledRecords = nil, t.stats.Records
	}
}

// writeLog writes the log, one run per partition. A panic of the fold or of a codec becomes an
// error of the table, as in drain.
func (t *FoldTable[V]) writeLog(ctx context.Context) {
	var err error
	defer func() {
		if t.err == nil {
			t.err = err
		}
	}()
	defer recoverTo(&err)
	t.file.noteCut(t.stats.Records)
	parts, err := t.sortedEntries(t.log.records, t.log.counts, t.log, t.log.place)
	if err == nil {
		err = t.file.spill(ctx, func(w *dataWriter, p int) error { return t.writeLogRun(w, parts[p]) })
	}
	t.stats.Spills, t.stats.SpilledRecords = int64(t.file.spills), t.file.spilled
}

// writeLogRun writes records in the order of their entries, and folds those of equal keys.
func (t *FoldTable[V]) writeLogRun(w *dataWriter, order []entry) error {
	values := &logValues{log: t.log}
	for touched := 0; len(order) > 0 && w.err == nil; {
		if touched <= 0 {
			touched = min(len(order), touchAhead)
			t.log.touchKeys(order[:touched])
		}
		n := t.log.equalKeys(order)
		if n == 1 {
			w.add(t.log.record(order[0].at))
			t.stats.CombineOut++
		} else {
			values.entries = order[:n]
			if _, err := t.foldGroup(w, t.log.keyOf(order[0].at), values); err != nil {
				return err
			}
		}
		order, touched = order[n:], touched-n
	}
	return nil
}
