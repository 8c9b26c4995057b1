package shuffle

import "bytes"

// gatherAhead is how many records are touched before they are copied.
const gatherAhead = 32

// gather copies records to a run in the order of entries. Records are all over the memory,
// so a few are touched first: those loads overlap, while the loads of copies would wait for
// each other.
func (b *batch) gather(w *dataWriter, entries []entry) {
	var ends [gatherAhead]int
	for len(entries) > 0 && w.err == nil {
		some := entries[:min(len(entries), gatherAhead)]
		touched := byte(0)
		for i := range some {
			s, _ := parseRecord(b.mem, int(some[i].at))
			ends[i] = s.end
			touched |= b.mem[s.end-1]
		}
		b.touched = touched
		for i := range some {
			w.add(b.mem[some[i].at:ends[i]])
		}
		entries = entries[len(some):]
	}
}

// combine runs the combiner over each group of equal keys.
func (b *batch) combine(w *dataWriter, entries []entry, c *combinerRun) error {
	for len(entries) > 0 {
		key := b.keyOf(entries[0].at)
		n := 1
		for n < len(entries) && bytes.Equal(key, b.keyOf(entries[n].at)) {
			n++
		}
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
	batch   *batch
	entries []entry
	value   []byte
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
