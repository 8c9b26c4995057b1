package shuffle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/storage"
)

// RangePartitioner assigns each key to the partition of its range, so that the partitions,
// concatenated, are sorted. Partition i holds the keys from cut point i-1 (included) to cut
// point i (excluded):
//
//	cuts          c0        c1        c2
//	partition  0  |    1    |    2    |  3
//
// A total sort samples the input for cut points, and gives the encoded partitioner to its
// maps. Several goroutines may use it.
type RangePartitioner struct {
	cuts  [][]byte // ascending, without duplicates
	heads []head   // sort keys of the cut points
}

// NewRangePartitioner takes ascending cut points. n cut points make n+1 partitions.
func NewRangePartitioner(cuts [][]byte) (*RangePartitioner, error) {
	p := &RangePartitioner{heads: make([]head, len(cuts))}
	for i, c := range cuts {
		if i > 0 && bytes.Compare(cuts[i-1], c) >= 0 {
			return nil, fmt.Errorf("cut points %q and %q: not ascending", clip(cuts[i-1]), clip(c))
		}
		p.cuts = append(p.cuts, bytes.Clone(c))
		p.heads[i].prefix, p.heads[i].rest = sortKey(c)
	}
	return p, nil
}

// Partition returns the number of cut points at or before key. It is a binary search over
// sort keys, which reads the cut points' bytes only if those are equal.
func (p *RangePartitioner) Partition(key []byte) int {
	k := head{}
	k.prefix, k.rest = sortKey(key)
	lo, hi := 0, len(p.heads)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if p.atOrBefore(mid, key, &k) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// atOrBefore reports whether cut point i is at or before key.
func (p *RangePartitioner) atOrBefore(i int, key []byte, k *head) bool {
	c := &p.heads[i]
	if c.prefix != k.prefix {
		return c.prefix < k.prefix
	}
	if c.rest != k.rest {
		return c.rest < k.rest
	}
	return wholeSortKey(k.rest) || bytes.Compare(p.cuts[i][sortKeyBytes:], key[sortKeyBytes:]) <= 0
}

// CutPoints sorts the samples and picks at most partitions-1 ascending cut points that
// divide them as equally as whole keys allow. A key that makes up more than an equal share
// gets a partition of its own, and the others share the rest. If there are too few different
// keys, there are fewer cut points.
func CutPoints(samples [][]byte, partitions int) [][]byte {
	slices.SortFunc(samples, bytes.Compare)
	var cuts [][]byte
	start := 0 // start of the current share
	for left := partitions; left > 1 && start < len(samples); left-- {
		cut := nextCut(samples, start, left)
		if cut == len(samples) {
			break
		}
		cuts = append(cuts, samples[cut])
		start = cut
	}
	return cuts
}

// nextCut returns the end of the share that begins at start, if the rest is divided into
// left shares: the border between two keys that is nearest to an equal share. It returns
// len(samples) if no border remains.
func nextCut(samples [][]byte, start, left int) int {
	ideal := start + (len(samples)-start+left/2)/left
	ideal = max(ideal, start+1)
	if ideal >= len(samples) {
		return len(samples)
	}
	if !bytes.Equal(samples[ideal-1], samples[ideal]) {
		return ideal
	}
	lo, _ := slices.BinarySearchFunc(samples, samples[ideal], bytes.Compare)
	hi := lo
	for hi < len(samples) && bytes.Equal(samples[hi], samples[lo]) {
		hi++
	}
	if lo > start && ideal-lo <= hi-ideal {
		return lo
	}
	return hi
}

// rangeMagic begins an encoded RangePartitioner.
const rangeMagic = "HMRCUTS1"

// Encode returns the partitioner as bytes: a magic, the cut points with their lengths as
// uvarints, and the little-endian xxhash64 of all preceding bytes.
//
//	| HMRCUTS1 | length | cut point | length | cut point | … | xxhash64 |
func (p *RangePartitioner) Encode() []byte {
	b := []byte(rangeMagic)
	for _, c := range p.cuts {
		b = binary.AppendUvarint(b, uint64(len(c)))
		b = append(b, c...)
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// DecodeRangePartitioner decodes what Encode returned. Its errors wrap storage.ErrCorrupt.
func DecodeRangePartitioner(b []byte) (*RangePartitioner, error) {
	if len(b) < len(rangeMagic)+8 || string(b[:len(rangeMagic)]) != rangeMagic {
		return nil, fmt.Errorf("%w: not a list of cut points", storage.ErrCorrupt)
	}
	body, sum := b[:len(b)-8], binary.LittleEndian.Uint64(b[len(b)-8:])
	if xxhash.Sum64(body) != sum {
		return nil, fmt.Errorf("%w: cut points do not match their checksum", storage.ErrCorrupt)
	}
	var cuts [][]byte
	for rest := body[len(rangeMagic):]; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return nil, fmt.Errorf("%w: cut point %d reaches beyond the end", storage.ErrCorrupt, len(cuts))
		}
		cuts = append(cuts, rest[n:n+int(size)])
		rest = rest[n+int(size):]
	}
	p, err := NewRangePartitioner(cuts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
	}
	return p, nil
}
