// Package text reads files of lines.
//
// A line ends at LF, CR LF or CR, as in Hadoop, or at a delimiter of the
// user's choice; the end is no part of it. A UTF-8 byte order mark at the
// start of a file is dropped. The last line needs no end. A line belongs to
// the range in which its first byte lies, so a reader that begins within a
// file looks for the end of a line from one byte before its range and goes on
// past its range to the end of the last line.
//
// Positions are byte offsets in plain files. In a compressed file they count
// lines from the start of the file or, for bzip2, of a block. The slices that
// a reader returns are views of its buffer; reading allocates nothing per
// line.
package text
