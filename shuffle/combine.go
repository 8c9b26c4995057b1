package shuffle

import (
	"bytes"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/data/poison"
)

// PanicError is a panic of a combiner or fold. It may occur in a goroutine of the collector,
// for records that were added long ago. So it becomes the error of the collector instead of
// ending the process.
type PanicError struct {
	Value any    // argument of the panic
	Stack []byte // stack of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// recoverTo turns a panic into an error. It must be deferred.
func recoverTo(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// combinerRun runs a user's combiner and counts its records. It is made once per collector
// and reused for every group, so that a group costs no allocation. Only the goroutine that
// writes a spill or a merge uses it; there is one at a time.
type combinerRun struct {
	combine Combiner      // combiner of the user
	in, out int64         // number of values that the combiner got, and of records that it emitted
	keys    uint64        // sum over the keys of the records that were added, for Sums.Emitted
	values  Values        // argument of the combiner; its source is counted
	counted countedValues // counts the values of the group
	poison  bool          // lend each value until the next one

	// The fields below describe the current group:
	w    *dataWriter             // receives the result of the group
	key  []byte                  // a view, valid while the group is combined
	err  error                   // set if the combiner emits a different key
	emit func(key, value []byte) // the method add, bound once
}

// newCombinerRun binds emit once, since a method value costs an allocation.
func newCombinerRun(c Combiner, poison bool) *combinerRun {
	cb := &combinerRun{combine: c, poison: poison}
	cb.emit = cb.add
	cb.values.source = &cb.counted
	return cb
}

// group has the type groupWriter: it calls the combiner for one key and writes to w what the
// combiner emits.
func (c *combinerRun) group(w *dataWriter, key []byte, values valueSource) error {
	c.w, c.key, c.err = w, key, nil
	if c.poison {
		values = lendValues(values)
	}
	c.counted = countedValues{valueSource: values}
	err := c.combine(key, &c.values, c.emit)
	for c.counted.NextValue() {
		// Values that the combiner did not read are counted too.
	}
	c.in += c.counted.n
	if err == nil {
		err = c.err
	}
	if err != nil {
		return fmt.Errorf("combiner: %w", err)
	}
	return nil
}

// noteKey adds the key of n records to the sum over keys.
func (c *combinerRun) noteKey(key []byte, n int) { c.keys += uint64(n) * xxhash.Sum64(key) }

// add writes a record that the combiner emits. It refuses any key other than the group's
// key, which would break the order of the run.
func (c *combinerRun) add(key, value []byte) {
	if !bytes.Equal(key, c.key) {
		if c.err == nil {
			c.err = fmt.Errorf("key %q emitted while combining %q; only the same key may be emitted", clip(key), clip(c.key))
		}
		return
	}
	c.w.addPair(key, value)
	c.out++
}

// clip shortens a key for a message.
func clip(key []byte) []byte { return key[:min(len(key), 64)] }

// countedValues counts the values that are taken.
type countedValues struct {
	valueSource
	n int64
}

// NextValue advances to the next value and counts it.
func (v *countedValues) NextValue() bool {
	if !v.valueSource.NextValue() {
		return false
	}
	v.n++
	return true
}

// gatherAhead is how many records are touched before they are copied.
const gatherAhead = 32

// gather copies records to a run in the order of entries. Records are scattered over the
// memory, so gather first touches a few of them. The processor overlaps these loads, while
// it would execute the loads of copies one after another. Lengths of one byte are decoded
// without a call.
func (b *batch) gather(w *dataWriter, entries []entry) {
	var ends [gatherAhead]int
	for len(entries) > 0 && w.err == nil {
		some := entries[:min(len(entries), gatherAhead)]
		touched := byte(0)
		for i := range some {
			at := int(some[i].at)
			keyLen, valueLen := b.mem[at], b.mem[at+1]
			ends[i] = at + 2 + int(keyLen) + int(valueLen)
			if keyLen|valueLen >= 0x80 {
				s, _ := parseLongRecord(b.mem, at)
				ends[i] = s.end
			}
			touched |= b.mem[ends[i]-1]
		}
		b.touched = touched
		for i := range some {
			w.add(b.mem[some[i].at:ends[i]])
		}
		entries = entries[len(some):]
	}
}

// combine runs the combiner over each group of equal keys. entries are the entries of one
// partition, sorted, so equal keys are adjacent.
func (b *batch) combine(w *dataWriter, entries []entry, c *combinerRun) error {
	for len(entries) > 0 {
		key := b.keyOf(entries[0].at)
		n := 1
		for n < len(entries) && bytes.Equal(key, b.keyOf(entries[n].at)) {
			n++
		}
		c.noteKey(key, n)
		if err := c.group(w, key, &batchValues{batch: b, entries: entries[:n]}); err != nil {
			return err
		}
		if w.err != nil {
			return w.err
		}
		entries = entries[n:]
	}
	return nil
}

// batchValues steps through the values of entries of one key.
type batchValues struct {
	batch   *batch  // holds the records
	entries []entry // entries of the values that follow
	value   []byte  // current value; a view
}

func (v *batchValues) NextValue() bool {
	if len(v.entries) == 0 {
		return false
	}
	s, _ := parseRecord(v.batch.mem, int(v.entries[0].at))
	v.value = v.batch.mem[s.value:s.end:s.end]
	v.entries = v.entries[1:]
	return true
}

func (v *batchValues) Value() []byte { return v.value }

// singleValue is the one value of a record.
type singleValue struct {
	value []byte
	taken bool
}

func (v *singleValue) NextValue() bool {
	first := !v.taken
	v.taken = true
	return first
}

func (v *singleValue) Value() []byte { return v.value }

// lentValues lends each value of a source until the next one.
type lentValues struct {
	valueSource
	lender *poison.Lender
	value  []byte
}

func lendValues(s valueSource) *lentValues {
	return &lentValues{valueSource: s, lender: poison.New(true)}
}

// NextValue advances to the next value and overwrites the last one.
func (v *lentValues) NextValue() bool {
	v.lender.End()
	if !v.valueSource.NextValue() {
		return false
	}
	v.value = v.lender.Lend(v.valueSource.Value())
	return true
}

func (v *lentValues) Value() []byte { return v.value }

// Values is the values of one key, in order, as a combiner sees them. Each is seen once, and
// is valid until the next.
type Values struct {
	source valueSource
}

// valueSource steps through the values of a group: entries of a batch, one record, or a
// merge (Groups).
type valueSource interface {
	NextValue() bool
	Value() []byte
}

// Next advances to the next value. It returns false at the end of the group.
func (v *Values) Next() bool { return v.source.NextValue() }

// Value returns the current value.
func (v *Values) Value() []byte { return v.source.Value() }

// All ranges over the remaining values.
func (v *Values) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for v.Next() {
			if !yield(v.Value()) {
				return
			}
		}
	}
}
