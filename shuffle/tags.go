package shuffle

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hammr/hammr/storage"
)

// rank orders equal keys of different runs: by the ordinal of the source, then,
// for runs of one file, by where the run begins.
type rank struct {
	ordinal int32
	offset  int64
}

func (r rank) compare(s rank) int {
	return cmp.Or(cmp.Compare(r.ordinal, s.ordinal), cmp.Compare(r.offset, s.offset))
}

// sortRanks sorts ranks and drops the doubles.
func sortRanks(ranks []rank) []rank {
	slices.SortFunc(ranks, rank.compare)
	return slices.Compact(ranks)
}

// appendTags appends the table that begins a tagged run: for each rank its
// ordinal as a varint and its offset as a uvarint.
func appendTags(dst []byte, tags []rank) []byte {
	for _, t := range tags {
		dst = binary.AppendVarint(dst, int64(t.ordinal))
		dst = binary.AppendUvarint(dst, uint64(t.offset))
	}
	return dst
}

// decodeTags reads a table of n ranks, which fills b and ascends.
func decodeTags(b []byte, n int) ([]rank, error) {
	if n > maxTagCount || n > len(b)/2 {
		return nil, fmt.Errorf("%w: %d sources named in %d bytes", storage.ErrCorrupt, n, len(b))
	}
	tags := make([]rank, 0, n)
	for range n {
		ordinal, used := binary.Varint(b)
		if used <= 0 || int64(int32(ordinal)) != ordinal {
			return nil, fmt.Errorf("%w: ordinal of a source", storage.ErrCorrupt)
		}
		b = b[used:]
		offset, used := binary.Uvarint(b)
		if used <= 0 || int64(offset) < 0 {
			return nil, fmt.Errorf("%w: offset of a source", storage.ErrCorrupt)
		}
		b = b[used:]
		t := rank{int32(ordinal), int64(offset)}
		if len(tags) > 0 && tags[len(tags)-1].compare(t) >= 0 {
			return nil, fmt.Errorf("%w: sources do not ascend", storage.ErrCorrupt)
		}
		tags = append(tags, t)
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the last source", storage.ErrCorrupt, len(b))
	}
	return tags, nil
}
