// Package compress reads and writes compressed files: gzip, zstd, s2, snappy,
// lz4, deflate and bzip2. A codec is chosen by a file's extension when reading
// and by name or Hadoop class when writing.
//
// A Writer cuts its output into frames (gzip members, zstd frames, bzip2
// streams, …) at places that depend on the content alone. Frames stand for
// themselves: joined files are valid files, and a writer that stops and hands
// its Pending bytes to another writer gives, in two files, the very bytes that
// one writer would have given in one. Readers read any number of frames.
//
// docs/formats/compression.md has the list of codecs and the framing rule.
package compress
