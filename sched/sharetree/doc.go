// Package sharetree allocates free slots one at a time down a tree of pools, in the order
// that a policy defines:
//
//	root := &sharetree.Entry{Compare: …}   // a pool, with the order of its children
//	job := &sharetree.Entry{Job: id}
//	job.Join(root)
//	job.SetDemand(waiting)                 // whenever the demand or the order has changed
//	…
//	granted := sharetree.Allocate(round, view, root, jobs)
//
// A slot goes to the first child at each level and counts at once, so the next slot may go
// elsewhere. Slots that package placement does not use, because a job waits for better
// machines, are allocated again among the others: no slot stays free that a job could use. A
// bundle is allocated as a whole and counts all its slots.
//
// Entries stay in the heaps of their pools between two allocations. The time of an
// allocation therefore grows only with the slots allocated. A change takes time only for one
// entry and the pools above it, however many jobs wait. In return, the caller must announce
// each change of the order. When the rank of an entry changes, call SetDemand for it before
// the next entry changes; when many change at once, call Reorder on the root. A pool whose
// order depends on the time, or on which jobs compete, has a Rank instead, which is built
// again in each allocation.
package sharetree
