// Package format is the interface between the engine and the file formats, which convert
// bytes to records of byte slices and back. The typed formats of package mr use these
// formats. Each format is a package below this one.
//
// To add a format, write an Opener whose Readers own the records of a Range: every record of
// a file must belong to exactly one of the ranges that divide it. Package fixed is the
// smallest example.
package format

import (
	"context"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/storage"
)

// Reader yields the records of one Range of one file:
//
//	for r.Next() {
//		use(r.Offset(), r.Key(), r.Value())
//	}
//	if err := r.Err(); err != nil { … }
//
// The slices that Key and Value return belong to the reader and are valid until the next call
// of Next. A Reader is used by one goroutine.
type Reader interface {
	// Next moves to the next record. It returns false at the end of the range and after an
	// error.
	Next() bool

	// Offset returns where the record begins, in bytes of the file, or of the decompressed
	// stream if the file is compressed. In a compressed file that is split, it counts from
	// the block. It does not depend on where the range begins.
	Offset() int64

	// Key returns the key's bytes; nil in formats whose only key is the offset.
	Key() []byte

	// Value returns the value's bytes.
	Value() []byte

	// Position returns where the current record starts. Before the first Next it returns the
	// start of the range. Reading [start, Position) and [Position, end) of the same file
	// returns each record of [start, end) once.
	Position() dag.Position

	// Consumed returns how many bytes of the file have been used so far. For a compressed
	// file these are compressed bytes. Progress and the counter Bytes Read show this number.
	Consumed() int64

	// Err returns the first error. For corrupt data the error wraps storage.ErrCorrupt and
	// names the file and the offset.
	Err() error

	Close() error
}

// Open has the parameters for reading a range of a file.
type Open struct {
	FS    storage.FS
	Path  string    // absolute, without scheme
	Size  int64     // size of the file in bytes
	Range dag.Range // the part to read; End.Offset may be Size or more for "to the end"
	// MaxRecord is the length of the longest record that is accepted, in bytes; 0 means 2
	// GiB - 1. A longer record is an error that names its offset.
	MaxRecord int64
	// Buffer is the least number of bytes that are read from an uncompressed file at once.
	// Values below the format's own buffer have no effect.
	Buffer int
	// ReadAhead is the number of bytes that are read in the background, before they are
	// needed; 0 means the default of the format.
	ReadAhead int
}

// Opener opens a Reader; each format has one or more.
type Opener func(ctx context.Context, o Open) (Reader, error)
