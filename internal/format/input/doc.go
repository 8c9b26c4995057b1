// Package input opens the bytes of an input file for the formats. It reads a plain file from
// an offset. It decompresses a file whose extension names a codec, from the start of the
// file.
//
//	file ──> reader: the bytes of the listing ──> read-ahead, if remote ──> decoder ──> format
//
// Files of a network file system are read ahead in the background. A local file is not read
// ahead: its bytes come from the page cache, and a second goroutine would only cost a copy.
package input
