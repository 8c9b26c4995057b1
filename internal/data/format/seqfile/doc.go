// Package seqfile reads and writes Hadoop's SequenceFile, version 6: key/value records of
// Writable bytes, uncompressed, with each value compressed, or in compressed blocks of many
// records.
//
//	header ( [sync] record )*                  None, Record
//	header ( sync count keys values )*         Block
//
// A sync mark is the word -1 followed by sixteen bytes that the header defines. A reader can
// start at a mark in the middle of a file, so the mark is the Offset of a Position, and Skip
// counts the records after it. The records between the header and the first mark have the
// header's end as their Offset.
//
// A range owns the records whose mark is in it, so that ranges that cover a file return each
// record once, wherever the file is split. Hadoop splits a file in the same way, except for
// boundaries inside the header.
//
// Keys and values are the bytes of a Writable; package writable encodes and decodes them.
// The caller chooses the sync mark of a Writer, so that the same records produce the same
// bytes. docs/formats/sequencefile.md describes the bytes.
package seqfile
