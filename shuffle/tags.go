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
	ordinal Ordinal
	offset  int64
}

func (r rank) compare(s rank) int {
	return cmp.Or(r.ordinal.Compare(s.ordinal), cmp.Compare(r.offset, s.offset))
}

// sortRanks sorts ranks and drops the doubles.
func sortRanks(ranks []rank) []rank {
	slices.SortFunc(ranks, rank.compare)
	return slices.Compact(ranks)
}

// appendTags appends the table that begins a tagged run: for each rank the
// number of its input as a varint, then offset and skip of its start and its
// own offset as uvarints.
func appendTags(dst []byte, tags []rank) []byte {
	for _, t := range tags {
		dst = binary.AppendVarint(dst, int64(t.ordinal.Input))
		for _, n := range []int64{t.ordinal.Start.Offset, t.ordinal.Start.Skip, t.offset} {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

// minTagSize is the least size of an encoded rank.
const minTagSize = 4

// decodeTags reads a table of n ranks, which fills b and ascends.
func decodeTags(b []byte, n int) ([]rank, error) {
	if n > maxTagCount || n > len(b)/minTagSize {
		return nil, fmt.Errorf("%w: %d sources named in %d bytes", storage.ErrCorrupt, n, len(b))
	}
	tags := make([]rank, 0, n)
	for range n {
		t, rest, err := decodeTag(b)
		if err != nil {
			return nil, err
		}
		b = rest
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

func decodeTag(b []byte) (t rank, rest []byte, err error) {
	input, used := binary.Varint(b)
	if used <= 0 || int64(int32(input)) != input {
		return t, nil, fmt.Errorf("%w: input of a source", storage.ErrCorrupt)
	}
	t.ordinal.Input = int32(input)
	b = b[used:]
	for _, field := range []*int64{&t.ordinal.Start.Offset, &t.ordinal.Start.Skip, &t.offset} {
		n, used := binary.Uvarint(b)
		if used <= 0 || int64(n) < 0 {
			return t, nil, fmt.Errorf("%w: place of a source", storage.ErrCorrupt)
		}
		*field = int64(n)
		b = b[used:]
	}
	return t, b, nil
}
