package hashtable

import "hash/maphash"

// aheadDepth is how many announced keys wait until their slots have arrived in the cache.
const aheadDepth = 8

// Ahead loads into the cache what a later Find of an announced key needs. The loads of several
// keys are under way at the same time, and overlap: the entry of a key is loaded when further
// keys have been announced, since its slot is known by then. One goroutine uses it.
//
//	Announce(k8) ─► load the slot of k8
//	             └► load the entry of k0, whose slot was loaded eight calls ago
type Ahead struct {
	table   *Table
	slots   [aheadDepth]uint64 // slots of the keys announced last
	next    int                // place of the oldest
	touched uint64             // written so that the compiler keeps the loads
}

// Ahead returns an Ahead with no announced keys.
func (t *Table) Ahead() Ahead { return Ahead{table: t} }

// Announce announces a key.
func (a *Ahead) Announce(key []byte) {
	t := a.table
	next := &a.slots[a.next%aheadDepth]
	if at := *next & atMask; at != 0 {
		a.touched += uint64(t.arena[at-1])
	}
	*next = t.slots[t.home(maphash.Bytes(t.seed, key))]
	a.next++
}
