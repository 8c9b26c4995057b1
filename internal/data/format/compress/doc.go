// Package compress reads and writes compressed files: gzip, zstd, s2, snappy, lz4, deflate
// and bzip2. A reader chooses the codec by the file's extension, a writer by name or Hadoop
// class.
//
// A Writer divides its output into frames (gzip members, zstd frames, bzip2 streams, …) at
// boundaries that depend on the content alone. Each frame can be decoded alone, so
// concatenated files are valid files. A writer that stops and passes its Pending bytes to
// another writer produces, in two files, the same bytes as a single writer. Readers read any
// number of frames.
//
// docs/formats/compression.md lists the codecs and defines the framing.
package compress
