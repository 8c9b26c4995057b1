// Package seqfile reads and writes Hadoop's SequenceFile, version 6: key/value
// records of Writable bytes, plain, with each value compressed, or in
// compressed blocks of many records.
//
//	header ( [sync] record )*                  None, Record
//	header ( sync count keys values )*         Block
//
// A sync mark is the word -1 and sixteen bytes that the header announces. It is
// where a reader can begin in the middle of a file, so it is the Offset of a
// Position; the records after it are counted by Skip. The records from the
// header to the first mark have the header's end as their Offset.
//
// A range owns the records whose mark lies in it, wherever its borders fall,
// so that any cut gives each record once. That is how Hadoop divides a file
// too, but for borders inside the header.
//
// Keys and values are the bytes of a Writable; package writable encodes and
// decodes them. The sync mark of a Writer comes from its caller, so that the
// same records make the same bytes. docs/formats/sequencefile.md describes the
// bytes.
package seqfile
