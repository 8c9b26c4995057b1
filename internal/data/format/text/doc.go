// Package text reads files of lines.
//
// A line ends at LF, CR LF or CR, as in Hadoop, or at a configured delimiter, which is not
// part of the line. A UTF-8 byte order mark at the start of a file is dropped. The last line
// needs no delimiter. A line belongs to the range that contains its first byte. A reader
// that starts within a file therefore searches for the end of a line from one byte before
// its range, and reads past the end of its range to finish the last line.
//
// Positions are byte offsets in plain files. In a compressed file they count lines from the
// start of the file or, for bzip2, of a block. The slices that a reader returns are views of
// its buffer; reading does not allocate per line.
package text
