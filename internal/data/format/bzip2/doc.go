// Package bzip2 reads a bzip2 file from any offset. It starts with the first block that
// begins at the offset or later, as Hadoop's BZip2Codec does for splits.
//
//	"BZh9" │ mark checksum data │ mark checksum data │ end mark │ "BZh9" │ …
//	        block, at any bit of a byte              end of a stream
//
// A block begins with a mark of 48 known bits at any bit of a byte, and carries a checksum.
// A Reader looks for two marks and passes the bits between them to a decoder, as a stream of
// one block. It continues to the end of the file, across the ends of concatenated streams.
// Blocks do not depend on each other, so a Reader decodes a few of them at once, ahead of
// its caller. Each takes about 10 MB.
//
// Every bit is accounted for. The decoder of a block checks that the next mark follows it at
// once, so the range that owns a block notices if the mark of the next range is damaged. The
// owner of a stream's last block also reads the header of the stream behind it, or the zero
// padding up to the end of the file. Only the checksum of a stream is not compared by ranges
// that begin within the stream: it repeats the checksums of the blocks, and no range knows
// those of the ranges before it.
//
// The 48 bits may also occur within a block by chance, about once in 35 TB. If a block does
// not decode, the Reader tries again with the next mark as the end of the block.
package bzip2
