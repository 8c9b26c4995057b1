// Package shuffle collects, sorts, spills, combines and merges records on their way from map
// to reduce.
//
// A map attempt adds its records to a collector. SortBuffer keeps records as bytes and sorts
// them. FoldTable combines records as they are added, if their keys repeat. Both use a given amount of memory, and
// a FoldTable also what a Budget has. When it is full they write sorted runs to one data
// file. At the end they leave that file and an index of its runs:
//
//	b, err := shuffle.NewSortBuffer(ctx, opts)
//	defer b.Abort()                  // no effect after Finish
//	for … { b.Emit(key, value) }     // the first error remains; see Err
//	index, err := b.Finish(ctx)
//
// A reduce attempt gives the runs of its partition to an Intake, which keeps them in memory
// or on disk within its limits. It then reads one merged stream:
//
//	in, err := shuffle.NewIntake(opts)
//	defer in.Close()
//	in.AddLocal(source) …
//	m, err := in.Merge(ctx)
//	g := m.Groups()
//	for g.NextGroup() {
//		for g.NextValue() { use(g.Key(), g.Value()) }
//	}
//	err = g.Err()
//
// Keys are ordered by their bytes and nothing else. Equal keys of one map keep the order in
// which they were added. Equal keys of different maps are ordered by rank (see rank),
// whatever the order of arrival. So the output does not depend on memory, factor, codec or
// time.
//
// Ownership: Emit copies its arguments. A FoldTable copies a string of a value only when the
// string becomes part of an entry. Key, Value and Values return views, valid until the
// next call that advances. Memory comes from arenas. Finish, Abort or Close returns it; a
// caller that calls none of them leaks it.
//
// Goroutines: a SortBuffer starts a goroutine to spill in the background, and Finish and
// Abort wait for it. The package starts no others: a merge and an intake run in the
// goroutines of their callers.
//
// docs/formats/segment.md describes the formats. Every block, run and index is verified when
// it is read. A mismatch wraps storage.ErrCorrupt and names the file and the offset.
package shuffle
