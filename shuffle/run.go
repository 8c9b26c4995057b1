package shuffle

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/storage"
)

// Run describes one sorted run of one partition in a data file. Indexes, reports and
// checkpoints contain it; a reader verifies the bytes against it.
type Run struct {
	Offset    int64  // offset of the run in the file
	Length    int64  // bytes in the file; 0: the run is empty
	RawLength int64  // bytes of its records; 0 if unknown or if there are no records
	Records   int64  // number of records
	Checksum  uint32 // CRC32C over the headers of its blocks
	Tagged    bool   // each record has a tag; see rank
}

// RunPosition is a place between two records of a run. The zero value is its
// start.
type RunPosition struct {
	BlockOffset int64 // offset of the block that holds the next record, from the start of the run; bytes
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

// String returns the input and the Position: 0@4096.
func (o Ordinal) String() string { return fmt.Sprintf("%d@%v", o.Input, o.Start) }

// Source is a run to be merged, with the Ordinal and Sequence that order its records among
// equal keys.
type Source struct {
	FS   storage.FS // unused for a run in memory
	Path string     // data file; names the run in errors if it is in memory
	Run  Run

	// Ordinal and Sequence are the rank of the run (see rank). If Sequence is 0, Run.Offset
	// is used. A tagged run has its own table of ranks and ignores both fields.
	Ordinal  Ordinal
	Sequence int64

	// From is the position where reading begins.
	From RunPosition

	memory memoryFile // bytes of the run, if an Intake keeps them in memory
	place  extent     // where memory lies in the intake's arena
}

// rank returns the rank of a run without tags.
func (s *Source) rank() rank {
	if s.Sequence != 0 {
		return rank{s.Ordinal, s.Sequence}
	}
	return rank{s.Ordinal, s.Run.Offset}
}

// rank orders equal keys of different runs. It depends only on the origin of the records, so
// the order of arrival does not affect the output.
//
//	Source      Ordinal                          Sequence
//	            input file, Position of the map  offset of the run in the map's data file
//	               │                                │
//	rank        (ordinal,                        sequence)
//	               │
//	tagged run  | table: rank 0, rank 1, … | tag record | tag record | …
//	                                         └─ index in the table
//
// For example, three runs have the key "k": the second spill of the map at 0@0, its first
// spill, and the map at 0@64:
//
//	run              rank        values of "k", in the order of the output
//	0@0, offset 0    (0@0, 0)    values of the first spill
//	0@0, offset 900  (0@0, 900)  values of the second spill
//	0@64, offset 0   (0@64, 0)   values of the other map
//
// A run that a map wrote has one rank: the rank of its Source. A merge of several runs that
// is written to disk is tagged: it begins with the table of the ranks merged into it, and
// each record carries a tag. Such a run can be merged again with runs whose ranks lie
// between its own. In a merge, the ranks of all sources are numbered once
// (Merge.rankSources), so that equal keys are ordered by comparing two numbers.
//
// Ordinals come from these places: mr/input.go numbers files (numberer), jobmaster/output_log.go gives each output
// its origin (ordinal), internal/task/reduce.go reads it (Reduce.ordinalOf), and
// internal/task/checkpoint/file.go stores it. A new field goes to all of them, to appendRanks and
// decodeRank, and to MapOutput in internal/rpc/taskproc.
type rank struct {
	ordinal  Ordinal
	sequence int64
}

// compare orders by Ordinal: input, then Position. Runs of one map follow in the order in
// which the map wrote them.
func (r rank) compare(s rank) int {
	return cmp.Or(r.ordinal.Compare(s.ordinal), cmp.Compare(r.sequence, s.sequence))
}

// sortRanks sorts ranks and drops duplicates.
func sortRanks(ranks []rank) []rank {
	slices.SortFunc(ranks, rank.compare)
	return slices.Compact(ranks)
}

// appendRanks appends the table that begins a tagged run: for each rank the number
// of its input as a varint, then the offset and skip of its Position and its
// sequence as uvarints.
func appendRanks(dst []byte, ranks []rank) []byte {
	for _, t := range ranks {
		dst = binary.AppendVarint(dst, int64(t.ordinal.Input))
		for _, n := range []int64{t.ordinal.Start.Offset, t.ordinal.Start.Skip, t.sequence} {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

// minRankSize is the least size of an encoded rank.
const minRankSize = 4

// decodeRanks reads a table of n ranks, which must ascend and fill b.
func decodeRanks(b []byte, n int) ([]rank, error) {
	if n > maxRanks || n > len(b)/minRankSize {
		return nil, fmt.Errorf("%w: table of %d ranks in %d bytes", storage.ErrCorrupt, n, len(b))
	}
	ranks := make([]rank, 0, n)
	for range n {
		t, rest, err := decodeRank(b)
		if err != nil {
			return nil, err
		}
		b = rest
		if len(ranks) > 0 && ranks[len(ranks)-1].compare(t) >= 0 {
			return nil, fmt.Errorf("%w: ranks do not ascend", storage.ErrCorrupt)
		}
		ranks = append(ranks, t)
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last rank", storage.ErrCorrupt, len(b))
	}
	return ranks, nil
}

// decodeRank decodes one entry of the table and returns the bytes after it.
func decodeRank(b []byte) (t rank, rest []byte, err error) {
	input, used := binary.Varint(b)
	if used <= 0 || int64(int32(input)) != input {
		return t, nil, fmt.Errorf("%w: invalid input in a rank", storage.ErrCorrupt)
	}
	t.ordinal.Input = int32(input)
	b = b[used:]
	for _, field := range []*int64{&t.ordinal.Start.Offset, &t.ordinal.Start.Skip, &t.sequence} {
		n, used := binary.Uvarint(b)
		if used <= 0 || int64(n) < 0 {
			return t, nil, fmt.Errorf("%w: invalid position in a rank", storage.ErrCorrupt)
		}
		*field = int64(n)
		b = b[used:]
	}
	return t, b, nil
}
