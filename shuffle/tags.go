package shuffle

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hammr/hammr/storage"
)

// rank orders equal keys of different runs. It is fixed by where the records come
// from, so the order of arrival does not show in the output.
//
//	Source      Ordinal                          Sequence
//	            input file, Position of the map  offset of the run in the map's data file
//	               │                                │
//	rank        (ordinal,                        sequence)
//	               │
//	tagged run  | table: rank 0, rank 1, … | tag record | tag record | …
//	                                         └─ index in the table
//
// A run as a map wrote it has one rank, that of its Source. A merge of several runs
// that is written to disk is tagged: it begins with the table of the ranks merged
// into it, and each record carries a tag. Such a run can be merged again with runs
// whose ranks lie between its own.
type rank struct {
	ordinal  Ordinal
	sequence int64
}

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
		return nil, fmt.Errorf("%w: %d sources named in %d bytes", storage.ErrCorrupt, n, len(b))
	}
	ranks := make([]rank, 0, n)
	for range n {
		t, rest, err := decodeRank(b)
		if err != nil {
			return nil, err
		}
		b = rest
		if len(ranks) > 0 && ranks[len(ranks)-1].compare(t) >= 0 {
			return nil, fmt.Errorf("%w: sources do not ascend", storage.ErrCorrupt)
		}
		ranks = append(ranks, t)
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the last source", storage.ErrCorrupt, len(b))
	}
	return ranks, nil
}

func decodeRank(b []byte) (t rank, rest []byte, err error) {
	input, used := binary.Varint(b)
	if used <= 0 || int64(int32(input)) != input {
		return t, nil, fmt.Errorf("%w: input of a source", storage.ErrCorrupt)
	}
	t.ordinal.Input = int32(input)
	b = b[used:]
	for _, field := range []*int64{&t.ordinal.Start.Offset, &t.ordinal.Start.Skip, &t.sequence} {
		n, used := binary.Uvarint(b)
		if used <= 0 || int64(n) < 0 {
			return t, nil, fmt.Errorf("%w: place of a source", storage.ErrCorrupt)
		}
		*field = int64(n)
		b = b[used:]
	}
	return t, b, nil
}
