// Package input opens the bytes of an input file for the formats: a plain file from an offset,
// and a file whose extension names a codec decompressed from its start.
//
//	file ──> reader: the bytes of the listing ──> read-ahead, if remote ──> decoder ──> format
//
// Files of a network file system are read ahead in the background. A local file is not: its
// bytes come from the page cache, and a second goroutine would only cost a copy.
package input
