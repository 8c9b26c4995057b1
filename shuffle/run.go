package shuffle

import (
	"cmp"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/storage"
)

// Run describes one sorted run of one partition in a data file.
type Run struct {
	Offset    int64  // of its first byte in the file
	Length    int64  // bytes in the file; 0: the run is empty
	RawLength int64  // bytes of its records; 0 for a run with records: unknown
	Records   int64  // in the run
	Checksum  uint32 // CRC32C over the headers of its blocks
	Tagged    bool   // each record has a tag; see rank
}

// RunPosition is a place between two records of a run. The zero value is its
// start.
type RunPosition struct {
	BlockOffset int64 // of the block that holds the next record, from the run's start; bytes
	Record      int64 // index of that record in the block
}

// Ordinal is the origin of a source in the job's input: the number of the input file, and
// the Position where the map attempt began to read. It orders equal keys of different maps.
type Ordinal struct {
	Input int32
	Start dag.Position
}

// Compare orders by input, then by Position.
func (o Ordinal) Compare(p Ordinal) int {
	return cmp.Or(cmp.Compare(o.Input, p.Input), o.Start.Compare(p.Start))
}

func (o Ordinal) String() string { return fmt.Sprintf("%d@%v", o.Input, o.Start) }

// Source is a run to be merged.
type Source struct {
	FS   storage.FS
	Path string // data file
	Run  Run

	// Ordinal and Sequence are the rank of the run (see rank). Sequence 0 stands for
	// Run.Offset. A tagged run has ranks of its own, and does not use these.
	Ordinal  Ordinal
	Sequence int64

	// From is the position where reading begins.
	From RunPosition

	memory memoryFile // the run's bytes, if an Intake keeps them in memory
	place  extent     // of memory in the intake's arena
}

// rank is the rank of a run without tags.
func (s *Source) rank() rank {
	if s.Sequence != 0 {
		return rank{s.Ordinal, s.Sequence}
	}
	return rank{s.Ordinal, s.Run.Offset}
}
