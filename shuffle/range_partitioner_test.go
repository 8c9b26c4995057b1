package shuffle

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

func sampleKeys(r *rand.Rand, n int, kind string) [][]byte {
	z := rand.NewZipf(r, 1.3, 1, 1000)
	keys := make([][]byte, n)
	for i := range keys {
		switch kind {
		case "random":
			keys[i] = []byte(fmt.Sprintf("%016x", r.Uint64()))
		case "zipf":
			keys[i] = []byte(fmt.Sprintf("%d", z.Uint64()))
		case "equal":
			keys[i] = []byte("one")
		case "prefix":
			keys[i] = []byte(fmt.Sprintf("a long common prefix %08x", r.Uint32()))
		}
	}
	return keys
}

func TestRangePartitionerIsMonotone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"random", "zipf", "equal", "prefix"}).Draw(rt, "kind")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		n := rapid.IntRange(0, 500).Draw(rt, "samples")
		parts := rapid.IntRange(1, 40).Draw(rt, "partitions")
		cuts := CutPoints(sampleKeys(r, n, kind), parts)
		if len(cuts) > parts-1 {
			rt.Fatalf("%d cut points for %d partitions", len(cuts), parts)
		}
		lent := make([][]byte, len(cuts)) // the partitioner keeps copies
		for i, c := range cuts {
			lent[i] = bytes.Clone(c)
		}
		p, err := NewRangePartitioner(lent)
		must.Do(rt, err)
		for _, c := range lent {
			poison.Fill(c)
		}
		for _, key := range append(sampleKeys(r, 200, kind), nil, []byte{0xff}) {
			want := 0
			for _, c := range cuts {
				if bytes.Compare(c, key) <= 0 {
					want++
				}
			}
			if got := p.Partition(key); got != want {
				rt.Fatalf("key %q in partition %d instead of %d", key, got, want)
			}
		}
	})
}

// TestCutPointsBalance checks the size of each partition that has several keys. It is at
// most an equal share plus the records of the heaviest such key.
func TestCutPointsBalance(t *testing.T) {
	for _, kind := range []string{"random", "zipf", "prefix"} {
		for _, parts := range []int{2, 3, 8, 20} {
			r := rand.New(rand.NewPCG(9, uint64(parts)))
			samples := sampleKeys(r, 20000, kind)
			p, err := NewRangePartitioner(CutPoints(slices.Clone(samples), parts))
			must.Do(t, err)
			counts, keys := make([]int, len(p.cuts)+1), make([]map[string]int, len(p.cuts)+1)
			heaviest := 0
			for _, s := range samples {
				i := p.Partition(s)
				if keys[i] == nil {
					keys[i] = make(map[string]int)
				}
				counts[i]++
				keys[i][string(s)]++
			}
			for i := range counts {
				for _, n := range keys[i] {
					if len(keys[i]) > 1 {
						heaviest = max(heaviest, n)
					}
				}
			}
			for i, n := range counts {
				if share := len(samples)/parts + heaviest + 1; len(keys[i]) > 1 && n > share {
					t.Errorf("%s: partition %d of %d holds %d keys, more than %d", kind, i, parts, n, share)
				}
			}
		}
	}
}

func TestRangePartitionerEncodes(t *testing.T) {
	p, err := NewRangePartitioner([][]byte{nil, []byte("a\x00"), []byte("b")})
	must.Do(t, err)
	b := p.Encode()
	q, err := DecodeRangePartitioner(b)
	if err != nil || !slices.EqualFunc(p.cuts, q.cuts, bytes.Equal) {
		t.Fatalf("decoded %q (%v) instead of %q", q.cuts, err, p.cuts)
	}
	for i := range b {
		b[i] ^= 1
		if _, err := DecodeRangePartitioner(b); !errors.Is(err, storage.ErrCorrupt) {
			t.Fatalf("byte %d changed: error %v", i, err)
		}
		b[i] ^= 1
	}
}

func FuzzDecodeRangePartitioner(f *testing.F) {
	p, err := NewRangePartitioner([][]byte{[]byte("a"), []byte("b")})
	must.Do(f, err)
	f.Add(p.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := DecodeRangePartitioner(b); err == nil {
			p.Partition(b)
		}
	})
}
