package hashtable

import "hash/maphash"

const (
	// aheadDepth is how many announced keys wait until their slots have arrived in the cache.
	aheadDepth = 8
	// cacheLine is the size of a cache line on most machines, in bytes.
	cacheLine = 64
)

// Ahead loads into the cache what a later Find of an announced key needs. The loads of several
// keys are under way at the same time, and overlap: the entry of a key is loaded when further
// keys have been announced, since its slot is known by then. One goroutine uses it.
//
//	Announce(k8) ─► load the slot of k8
//	             └► load the entry of k0, whose slot was loaded eight calls ago
//	Flush        ─► load the entries of k1 … k8
type Ahead struct {
	table   *Table
	slots   [aheadDepth]uint64 // slots of the keys announced last
	next    uint               // number of announced keys
	done    uint               // number of those whose entries were loaded; next-done <= aheadDepth
	touched uint64             // written so that the compiler keeps the loads
}

// Ahead returns an Ahead with no announced keys.
func (t *Table) Ahead() Ahead { return Ahead{table: t} }

// Announce announces a key.
func (a *Ahead) Announce(key []byte) {
	if a.next-a.done == aheadDepth {
		a.loadEntry()
	}
	t := a.table
	a.slots[a.next%aheadDepth] = t.slots[t.home(maphash.Bytes(t.seed, key))]
	a.next++
}

// Flush loads the entries of the keys announced last. Call it before the first Find.
func (a *Ahead) Flush() {
	for a.done < a.next {
		a.loadEntry()
	}
}

// loadEntry loads the next entry: the first two cache lines of it, since most entries end there.
func (a *Ahead) loadEntry() {
	if at := int(a.slots[a.done%aheadDepth] & atMask); at != 0 {
		arena := a.table.arena
		a.touched += uint64(arena[at-1]) + uint64(arena[min(at-1+cacheLine, len(arena)-1)])
	}
	a.done++
}
