package hashtable

import (
	"hash/maphash"
	"unsafe"
)

// aheadDepth is how many announced keys wait until their slots have arrived in the cache.
const aheadDepth = 16

// Ahead loads into the cache what a later Find of an announced key needs. The loads of several
// keys are under way at the same time, and overlap: the entry of a key is loaded when further
// keys have been announced, since its slot has arrived by then. One goroutine uses it.
//
//	Announce(k16) ─► prefetch the slot of k16
//	              └► prefetch the entry of k0, whose slot was prefetched 16 calls ago
//	Flush         ─► prefetch the entries of k1 … k16
//
// It looks only at the first slot of a key and at the first two cache lines of its entry: most
// searches end there.
type Ahead struct {
	table *Table
	homes [aheadDepth]uint64 // first slots of the keys announced last
	next  uint               // number of announced keys
	done  uint               // number of those whose entries were prefetched; next-done <= aheadDepth
}

// Ahead returns an Ahead with no announced keys.
func (t *Table) Ahead() Ahead { return Ahead{table: t} }

// Announce announces a key.
func (a *Ahead) Announce(key []byte) {
	if a.next-a.done == aheadDepth {
		a.prefetchEntry()
	}
	t := a.table
	home := t.home(maphash.Bytes(t.seed, key))
	prefetch(unsafe.Pointer(&t.slots[home]))
	a.homes[a.next%aheadDepth] = home
	a.next++
}

// Flush prefetches the entries of the keys announced last. Call it before the first Find.
func (a *Ahead) Flush() {
	for a.done < a.next {
		a.prefetchEntry()
	}
}

// prefetchEntry prefetches the next entry.
func (a *Ahead) prefetchEntry() {
	t := a.table
	if at := t.slots[a.homes[a.done%aheadDepth]] & atMask; at != 0 {
		prefetch(unsafe.Pointer(&t.arena[at-1]))
	}
	a.done++
}
