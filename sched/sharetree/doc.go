// Package sharetree gives free slots out one by one, each to whose turn it is. Whose
// turn that is, policies say:
//
//	root := &deal.Seat{Compare: …}              // a pool, with the order of those in it
//	seat := &deal.Seat{Job: id}; seat.Join(root)
//	seat.Sit(waiting)                           // whenever that has changed, or where it stands in the order
//	…
//	given := deal.Run(round, view, root, everybody)
//
// A slot goes down the tree of pools to whoever is first at every level, and what
// is given counts at once, so that the next slot may be somebody else's. Slots
// that the placement.Placer cannot use for those whose turn it was, since they wait for
// better machines, are dealt again among the others: none stays free that somebody
// could use. A bundle is dealt whole and counts all its slots.
//
// Those who want slots keep their seats between two deals, so that a deal costs
// what it gives out and a change costs one seat and the pools around it, however
// many wait. For this an order goes by nothing that changes behind its back: who
// changes is told to Sit before the next one does, and when all may stand elsewhere
// the root is told to Reorder. A pool whose order depends on the time, or on
// whom else there is, has a Rank instead, which is asked anew in every deal.
package sharetree
