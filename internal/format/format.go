// Package format is the formats of input and output files as the engine sees
// them: bytes in, records of byte slices out, and back. The typed formats of
// package mr wrap these. Each format is a package below this one.
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
// The slices that Key and Value return belong to the reader and hold until the
// following Next. A Reader is used by one goroutine.
type Reader interface {
	// Next goes to the next record; it returns false at the end of the range
	// and after an error.
	Next() bool

	// Offset is where the record begins: a byte offset in the file as it is
	// read (in the decompressed stream when the file is compressed, and in one
	// that is split, counted from the block). It is the same wherever the
	// range begins.
	Offset() int64

	// Key is the key's bytes, nil where the format has no key but the offset.
	Key() []byte

	// Value is the value's bytes.
	Value() []byte

	// Position is where the current record starts; before the first Next it is the start of
	// the range. Reading [start, Position) and [Position, end) of the same file returns each
	// record of [start, end) once.
	Position() dag.Position

	// Consumed is how many bytes of the file (compressed, where it is) have
	// been used so far: what progress and the Bytes Read counter show.
	Consumed() int64

	// Err is the first error. Corrupt data wraps storage.ErrCorrupt and names
	// the file and the offset.
	Err() error

	Close() error
}

// Open is what a format needs to read a range of a file.
type Open struct {
	FS    storage.FS
	Path  string    // absolute, without scheme
	Size  int64     // bytes in the file
	Range dag.Range // the part to read; End.Offset may be Size or more for "to the end"
	// MaxRecord is the longest record that is accepted, in bytes; 0 is the
	// default of 2 GiB - 1. A longer one is an error that names its offset.
	MaxRecord int64
	// Buffer is the least number of bytes that are read from an uncompressed file
	// at once; 0 and less than the format's own buffer have no effect.
	Buffer int
	// ReadAhead is how many bytes are read in the background before they are
	// asked for; 0 is the default of 1 MiB (4 MiB over a network).
	ReadAhead int
}

// Opener opens a Reader; each format has one or more.
type Opener func(ctx context.Context, o Open) (Reader, error)
