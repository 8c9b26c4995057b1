package shuffle

import (
	"encoding/binary"
	"math/bits"
)

// touch computes the slot of each record and loads it into the cache.
func (t *FoldTable[V]) touch(pending []pendingFold[V]) {
	entries := t.entries
	touched, bytes, keySum := uint32(0), int64(0), uint64(0)
	for i := range pending {
		p := &pending[i]
		b := p.b
		if p.size > inlineKey+1 {
			b = uint64(p.size)
		}
		keySum += t.sumKey(p.a, b)
		slot, _ := bits.Mul64(t.hash(p.a, b), uint64(len(entries)))
		p.slot = uint32(slot)
		touched += entries[slot].size
		bytes += int64(p.size) - 1
	}
	t.touched = touched
	t.stats.Bytes += bytes
	t.keySum += keySum
	if len(t.pendingLong) > 0 {
		t.touchLong(pending)
	}
}

// touchLong loads the long keys that records will probably be compared with.
func (t *FoldTable[V]) touchLong(pending []pendingFold[V]) {
	touched := uint32(0)
	for i := range pending {
		p := &pending[i]
		e := &t.entries[p.slot]
		if e.size == p.size && p.size > inlineKey+1 && binary.LittleEndian.Uint64(e.key[:8]) == p.a {
			touched += uint32(t.keyBytes(e)[0])
		}
	}
	t.touched = touched
}

// hash returns a multiply-and-fold hash of 16 bytes. The keys are loaded as two numbers
// already, so it costs one multiplication.
func (t *FoldTable[V]) hash(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^t.seeds[0], b^t.seeds[1])
	return hi ^ lo
}

// combineRecords combines records whose slots are computed. Most find their key in the slot where
// the probe begins, so that case needs no call.
func (t *FoldTable[V]) combineRecords(pending []pendingFold[V]) {
	entries, fold, plain := t.entries, t.fold.Fold, !t.keepsStrings
	for i := range pending {
		p := &pending[i]
		if p.size > inlineKey+1 {
			t.combineLong(p)
			continue
		}
		e := &entries[p.slot]
		if plain && e.size == p.size && binary.LittleEndian.Uint64(e.key[:8]) == p.a && binary.LittleEndian.Uint64(e.key[8:]) == p.b {
			if v, ok := fold(e.v, p.v); ok {
				e.v = v
				continue
			}
		}
		t.combine(p)
	}
}

// combine folds a record into its entry, or inserts an entry for a new key.
func (t *FoldTable[V]) combine(p *pendingFold[V]) {
	entries := t.entries
	for i := uint(p.slot); ; i++ {
		if i >= uint(len(entries)) {
			i = 0
		}
		e := &entries[i]
		if e.size == p.size && binary.LittleEndian.Uint64(e.key[:8]) == p.a && binary.LittleEndian.Uint64(e.key[8:]) == p.b {
			if t.keepsStrings {
				t.foldStrings(e, p)
			} else if v, ok := t.fold.Fold(e.v, p.v); ok {
				e.v = v
			} else {
				t.setAside(e, p)
			}
			return
		}
		if e.size == 0 {
			t.insert(e, p)
			return
		}
	}
}

// combineLong does the work of combine for a key that is stored outside the entry.
func (t *FoldTable[V]) combineLong(p *pendingFold[V]) {
	key := t.pendingLong[p.b:][:p.size-1]
	for i := uint(p.slot); ; i++ {
		if i >= uint(len(t.entries)) {
			i = 0
		}
		e := &t.entries[i]
		if e.size == p.size && binary.LittleEndian.Uint64(e.key[:8]) == p.a && string(t.keyBytes(e)) == string(key) {
			if t.keepsStrings {
				t.foldStrings(e, p)
			} else if v, ok := t.fold.Fold(e.v, p.v); ok {
				e.v = v
			} else {
				t.setAside(e, p)
			}
			return
		}
		if e.size == 0 {
			t.insertLong(e, p, key)
			return
		}
	}
}

// foldStrings folds a record into its entry, and copies the strings of the result.
func (t *FoldTable[V]) foldStrings(e *foldEntry[V], p *pendingFold[V]) {
	v, ok := t.fold.Fold(e.v, p.v)
	if !ok {
		t.setAside(e, p)
		return
	}
	t.keepStrings(&v, &e.v)
	e.v = v
}

// set sets the value of a new entry.
func (t *FoldTable[V]) set(e *foldEntry[V], v V) {
	if t.keepsStrings {
		t.keepStrings(&v, &e.v)
	}
	e.v = v
}

// insert fills a free slot with a key that fits into an entry.
func (t *FoldTable[V]) insert(e *foldEntry[V], p *pendingFold[V]) {
	binary.LittleEndian.PutUint64(e.key[:8], p.a)
	binary.LittleEndian.PutUint64(e.key[8:], p.b)
	if part, ok := t.partition(e.key[:p.size-1]); ok {
		e.size, e.part = p.size, part
		t.set(e, p.v)
	}
}

// insertLong fills a free slot with a key that is stored outside the entry.
func (t *FoldTable[V]) insertLong(e *foldEntry[V], p *pendingFold[V], key []byte) {
	part, ok := t.partition(key)
	if !ok {
		return
	}
	binary.LittleEndian.PutUint64(e.key[:8], p.a)
	binary.LittleEndian.PutUint64(e.key[8:], t.long.add(key))
	e.size, e.part = p.size, part
	t.set(e, p.v)
}

// partition returns the partition of a new key and counts its entry. A spill would find most
// keys outside of the cache; here the key is in it. ok is false after an error.
func (t *FoldTable[V]) partition(key []byte) (part uint32, ok bool) {
	p := t.opts.Partition(key)
	if uint(p) >= uint(len(t.counts)) {
		t.fail(t.opts.partitionError(p))
		return 0, false
	}
	t.counts[p]++
	t.used++
	return uint32(p), true
}
