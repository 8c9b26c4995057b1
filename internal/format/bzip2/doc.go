// Package bzip2 reads a bzip2 file from any place in it: from the first block
// that begins there or later.
//
// A block begins with 48 known bits at any bit of a byte and carries a
// checksum. A Reader looks for two such marks, hands the bits between them to
// the decoder of the standard library as a stream of one block, and so on to
// the end of the file, over the ends of streams where files were joined. The
// 48 bits may also turn up within a block by chance, about once in 35 TB; a
// block that does not decode is tried again with the end after that.
package bzip2
