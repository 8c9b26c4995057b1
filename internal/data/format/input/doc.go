// Package input opens the bytes of an input file for the formats. It reads a plain file from
// an offset. It decompresses a file whose extension names a codec, from the start of the
// file.
//
//	file ──> reader: the bytes of the listing ──> read-ahead, if remote ──> decoder ──> decode-ahead ──> format
//
// Files of a network file system are read ahead in the background. A local file is not read
// ahead: its bytes come from the page cache, and a second goroutine would only cost a copy.
//
// A compressed file is decoded ahead, up to 512 KiB, so that the map and its decoder take two
// cores. If all cores are busy, this costs a copy of the plain bytes.
package input
