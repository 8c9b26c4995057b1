package shuffle

import "bytes"

// gather copies records to a run in the order of entries.
func (b *batch) gather(w *dataWriter, entries []entry) {
	for i := range entries {
		w.add(b.recordAt(entries[i].at))
	}
}

// recordAt is the record at an offset.
func (b *batch) recordAt(at uint32) []byte {
	s, _ := parseRecord(b.mem, int(at))
	return b.mem[at:s.end]
}

// combine runs the combiner over each group of equal keys.
func (b *batch) combine(w *dataWriter, entries []entry, c *combining) error {
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
