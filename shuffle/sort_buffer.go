package shuffle

import (
	"context"
	"errors"
)

// SortBuffer collects records as bytes, sorts them and writes them in runs. Its memory has
// two parts:
//
//	| main: SpillPercent of it          | side     |
//
// When main is full, a goroutine sorts and writes it. Meanwhile further records are added to
// side, which is never the larger part. When side is full too, Emit waits for main, and
// moves the records of side there. Runs are thus as large as main, however fast records
// arrive.
//
//	cur == main ──full──► spill main in the background, cur = side
//	     ▲                                  │ side full
//	     └── wait, move side to main ◄──────┘
//
// At most one such goroutine runs; Finish and Abort wait for it. While it runs, it owns main
// and file, and the caller owns side. All other fields belong to the goroutine that calls
// Emit.
type SortBuffer struct {
	ctx      context.Context // context of the spills that Emit begins
	opts     Options
	mem      []byte // the arena, returned by release
	main     *batch // part that is spilled in the background
	side     *batch // nil if there are no background spills
	cur      *batch // main or side
	file     spillFile
	combine  *combinerRun // nil without a combiner
	spilling chan error   // receives the result of the goroutine that spills main; nil without one
	stats    Stats        // counts of the spills that have ended
	err      error        // first error; later records are dropped
	finished bool         // Finish or Abort was called
}

var _ Collector = (*SortBuffer)(nil)

// minSide is the smallest size of side, in bytes; a smaller one is left out.
const minSide = 4 << 10

// NewSortBuffer makes a SortBuffer. It must be finished or aborted. The context is for the
// spills that Emit begins.
func NewSortBuffer(ctx context.Context, o Options) (*SortBuffer, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	mem, err := arenas.take(int(o.Memory))
	if err != nil {
		return nil, err
	}
	b := &SortBuffer{ctx: ctx, opts: o, mem: mem}
	b.file.opts = &b.opts
	cut := (int(float64(o.Memory)*max(o.SpillPercent, 0.5)) + entrySize - 1) &^ (entrySize - 1)
	if cut < minSide || len(mem)-cut < minSide {
		b.main = newBatch(mem, &o)
	} else {
		b.main, b.side = newBatch(mem[:cut:cut], &o), newBatch(mem[cut:], &o)
	}
	b.cur = b.main
	if o.Combine != nil {
		b.combine = newCombinerRun(o.Combine, o.Poison)
	}
	return b, nil
}

// Emit copies one record. For errors see Err.
func (b *SortBuffer) Emit(key, value []byte) {
	n := recordLen(len(key), len(value))
	if !b.cur.fits(n) && !b.ensureSpace(n) {
		b.addLarge(key, value, n)
		return
	}
	p := b.opts.Partition(key)
	if uint(p) >= uint(b.opts.Partitions) {
		b.refuse(p)
		return
	}
	b.cur.add(p, key, value, n)
	b.stats.Records++
	b.stats.Bytes += int64(len(key) + len(value))
}

// refuse fails because the partitioner returned a number that is no partition.
func (b *SortBuffer) refuse(partition int) { b.fail(b.opts.partitionError(partition)) }

// ensureSpace spills until a record of n bytes fits. It returns false after an error, and if
// the record can never fit. A record may fit main and not side, so it may take two rounds.
func (b *SortBuffer) ensureSpace(n int) bool {
	for b.err == nil && b.main.fitsEmpty(n) {
		switch {
		case b.cur == b.side:
			b.wait()
			b.main.moveFrom(b.side)
			b.cur = b.main
		case b.side == nil:
			b.spill(b.main)
		default:
			b.spillInBackground()
		}
		if b.err == nil && b.cur.fits(n) {
			return true
		}
	}
	return false
}

// spillInBackground begins to spill main, and continues with side, which must be empty.
func (b *SortBuffer) spillInBackground() {
	done := make(chan error, 1)
	ctx, main := b.ctx, b.main
	go func() { done <- b.write(ctx, main) }()
	b.spilling, b.cur = done, b.side
}

// wait waits for the spill of main.
func (b *SortBuffer) wait() {
	if b.spilling != nil {
		b.spillEnded(<-b.spilling)
	}
}

// spillEnded takes the result of the goroutine. Only after it may the caller use main and
// the counts of file again.
func (b *SortBuffer) spillEnded(err error) {
	b.spilling = nil
	b.fail(err)
	b.main.reset()
	b.count()
}

// spill sorts and writes a batch.
func (b *SortBuffer) spill(s *batch) {
	b.fail(b.write(b.ctx, s))
	s.reset()
	b.count()
}

// spillAll empties both parts.
func (b *SortBuffer) spillAll() {
	b.wait()
	if b.err == nil && b.cur.n > 0 {
		b.spill(b.cur)
	}
	b.cur = b.main
}

// write writes a batch as one spill. A panic of the combiner becomes an error, in any
// goroutine.
func (b *SortBuffer) write(ctx context.Context, s *batch) (err error) {
	defer recoverTo(&err)
	parts := s.sorted()
	b.file.noteCut(int64(s.n))
	return b.file.spill(ctx, func(w *dataWriter, p int) error {
		if b.combine != nil {
			return s.combine(w, parts[p], b.combine)
		}
		s.gather(w, parts[p])
		return nil
	})
}

// addLarge writes a record that is larger than the memory. The record becomes a spill, after
// all earlier records.
func (b *SortBuffer) addLarge(key, value []byte, n int) {
	if b.err != nil || b.finished {
		return
	}
	b.spillAll()
	partition := b.opts.Partition(key)
	if uint(partition) >= uint(b.opts.Partitions) {
		b.refuse(partition)
	}
	if b.err != nil {
		return
	}
	b.file.noteCut(1)
	b.fail(b.file.spill(b.ctx, func(w *dataWriter, p int) error {
		if p != partition {
			return nil
		}
		if b.combine != nil {
			b.combine.noteKey(key, 1)
			return b.combine.group(w, key, &singleValue{value: value})
		}
		w.addPair(key, value)
		return nil
	}))
	b.stats.Records++
	b.stats.Bytes += int64(len(key) + len(value))
	b.count()
}

// count copies the counts of the spills. No spill may be active.
func (b *SortBuffer) count() {
	b.stats.Spills, b.stats.SpilledRecords = int64(b.file.spills), b.file.spilled
	if b.combine != nil {
		b.stats.CombineIn, b.stats.CombineOut = b.combine.in, b.combine.out
	}
}

// fail keeps the first error.
func (b *SortBuffer) fail(err error) {
	if err != nil && b.err == nil {
		b.err = err
	}
}

// Err returns the first error so far. The error of a background spill is known once that
// spill has ended.
func (b *SortBuffer) Err() error {
	if b.spilling != nil {
		select {
		case err := <-b.spilling:
			b.spillEnded(err)
		default:
		}
	}
	return b.err
}

// Finish writes what is in memory, merges the spills if there are many, and returns the
// index. After an error no file remains.
func (b *SortBuffer) Finish(ctx context.Context) (*Index, error) {
	if b.finished {
		return nil, errors.New("collector: already finished or aborted")
	}
	b.wait()
	b.ctx = ctx
	b.spillAll()
	b.release()
	if b.err != nil {
		return nil, errors.Join(b.err, b.file.abort(ctx))
	}
	var combine groupWriter
	if b.combine != nil && b.file.spills >= minSpillsToCombine {
		combine = b.combine.group
	}
	x, err := b.file.finish(ctx, combine)
	b.count()
	if err != nil {
		b.err = err
		return nil, errors.Join(err, b.file.abort(ctx))
	}
	b.stats.MaterializedBytes, b.stats.Sums = x.DataLength, b.sums(x)
	return x, nil
}

// sums returns the sums of all records. A merge that combines has not changed those of keys.
func (b *SortBuffer) sums(x *Index) Sums {
	if b.combine != nil {
		return Sums{Emitted: 1 + b.combine.keys, Cuts: b.file.cuts}
	}
	return Sums{Emitted: x.emitted(), Cuts: b.file.cuts}
}

// minSpillsToCombine is the number of spills from which on the combiner runs again when they
// are merged.
const minSpillsToCombine = 3

// Abort ends the collector and removes its files. After Finish it does nothing.
func (b *SortBuffer) Abort() error {
	if b.finished {
		return nil
	}
	b.wait()
	b.release()
	b.fail(errors.New("collector: aborted"))
	return b.file.abort(b.ctx)
}

// release returns the memory. An empty batch remains, which fits no record, so a later Emit
// has no effect.
func (b *SortBuffer) release() {
	b.finished = true
	arenas.give(b.mem)
	b.mem, b.main, b.side = nil, new(batch), nil
	b.cur = b.main
}

// Stats returns the counts so far. A spill counts once it has ended.
func (b *SortBuffer) Stats() Stats { return b.stats }

// Buffered implements Collector.
func (b *SortBuffer) Buffered() int64 {
	bytes := b.main.end
	if b.side != nil {
		bytes += b.side.end
	}
	return int64(bytes)
}
