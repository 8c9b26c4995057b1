// Package shuffle is what happens to records between map and reduce: they are
// collected, sorted, spilled, combined and merged.
//
// A map attempt adds its records to a collector. SortBuffer keeps them as bytes
// and sorts them; FoldTable combines them as they come in. Both hold a fixed
// amount of memory, write sorted runs to one data file when it is full, and
// leave that file and an index of its runs behind:
//
//	b, err := shuffle.NewSortBuffer(ctx, opts)
//	defer b.Abort()                  // no effect after Finish
//	for … { b.Emit(key, value) }     // an error sticks and shows in Err
//	index, err := b.Finish(ctx)
//
// A reduce attempt gives the runs of its partition to an Intake, which keeps
// them in memory or on disk within its bounds, and reads one merged stream:
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
// Keys are ordered by their bytes and nothing else. Equal keys keep the order
// in which they were added; between map attempts they are ordered by the
// Ordinal of the source, whatever the order of arrival, so output does not
// depend on memory, factor, codec or time.
//
// The formats are in docs/formats/segment.md. Every block, run and index is
// verified when it is read; what does not match wraps storage.ErrCorrupt and
// names the file and the offset.
package shuffle
