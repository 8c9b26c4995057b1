package shuffle

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

func drawIndex(rt *rapid.T) *Index {
	x := &Index{DataLength: math.MaxInt64, DataChecksum: rapid.Uint64().Draw(rt, "sum")}
	count := rapid.Int64Range(0, math.MaxInt64/2)
	for range rapid.IntRange(0, 5).Draw(rt, "partitions") {
		var runs []Run
		for range rapid.IntRange(0, 3).Draw(rt, "runs") {
			runs = append(runs, Run{
				Offset: count.Draw(rt, "offset"), Length: count.Draw(rt, "length"), RawLength: count.Draw(rt, "raw"),
				Records: count.Draw(rt, "records"), Checksum: rapid.Uint32().Draw(rt, "checksum"), Tagged: rapid.Bool().Draw(rt, "tagged"),
			})
		}
		x.Partitions = append(x.Partitions, runs)
	}
	return x
}

func TestIndexRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := drawIndex(rt)
		y, err := DecodeIndex(x.Encode())
		must.Do(rt, err)
		if len(x.Partitions) == 0 {
			x.Partitions = [][]Run{}
		}
		if !reflect.DeepEqual(x, y) {
			rt.Fatalf("decoded %+v instead of %+v", y, x)
		}
	})
}

func TestIndexFindsEveryChangedByte(t *testing.T) {
	x := &Index{DataLength: 100, Partitions: [][]Run{{{Length: 40, Records: 3}, {Offset: 40, Length: 60}}, nil}}
	b := x.Encode()
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if _, err := DecodeIndex(b); !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("byte %d changed: error %v", i, err)
			}
			b[i] ^= 1 << bit
		}
		if _, err := DecodeIndex(b[:i]); !errors.Is(err, storage.ErrCorrupt) {
			t.Fatalf("index cut at %d: error %v", i, err)
		}
	}
}

func TestSortKeyOrdersLikeBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 0xff}), 0, 15)
		a, b := key.Draw(rt, "a"), key.Draw(rt, "b")
		var x, y head
		x.prefix, x.rest = sortKey(a)
		y.prefix, y.rest = sortKey(b)
		got := 0
		switch {
		case x.prefix != y.prefix:
			got = 1
			if x.prefix < y.prefix {
				got = -1
			}
		case x.rest != y.rest:
			got = 1
			if x.rest < y.rest {
				got = -1
			}
		case !wholeSortKey(x.rest):
			got = bytes.Compare(a[sortKeyBytes:], b[sortKeyBytes:])
		}
		if got != bytes.Compare(a, b) {
			rt.Fatalf("sort keys compare %d", got)
		}
	})
}

func TestLoadKeyMatchesBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	page := make([]byte, 3*4096)
	for i := range page {
		page[i] = byte(r.Uint32())
	}
	for at := range 2*4096 + 17 {
		for n := range inlineKey + 1 {
			key := page[at : at+n]
			var want [16]byte
			copy(want[:], key)
			for name, load := range map[string]func([]byte) (uint64, uint64){"fast": loadKey, "tail": loadTail} {
				a, b := load(key)
				if a != binary.LittleEndian.Uint64(want[:8]) || b != binary.LittleEndian.Uint64(want[8:]) {
					t.Fatalf("%s: key %x loaded as %x, %x", name, key, a, b)
				}
			}
		}
	}
}

func TestParseCodec(t *testing.T) {
	for name, want := range map[string]Codec{
		"": None, "none": None, "s2": S2, "Snappy": S2, "zstd": Zstd, "LZ4": LZ4,
		"org.apache.hadoop.io.compress.SnappyCodec":    S2,
		"org.apache.hadoop.io.compress.ZStandardCodec": Zstd,
		"org.apache.hadoop.io.compress.Lz4Codec":       LZ4,
	} {
		if c, err := ParseCodec(name); err != nil || c != want {
			t.Errorf("codec %q is %v, error %v", name, c, err)
		}
	}
	if _, err := ParseCodec("com.example.Rot13"); err == nil {
		t.Error("unknown codec accepted")
	}
}

func FuzzDecodeIndex(f *testing.F) {
	x := (&Index{DataLength: 100, Partitions: [][]Run{{{Length: 40, Records: 3}}}}).Encode()
	f.Add(x, true)
	f.Add(x[:len(x)-8], false)
	f.Fuzz(func(t *testing.T, b []byte, whole bool) {
		if !whole { // append a valid checksum, so that fuzzing reaches the decoder behind it
			b = binary.LittleEndian.AppendUint64(bytes.Clone(b), xxhash.Sum64(b))
		}
		x, err := DecodeIndex(b)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if y, err := DecodeIndex(x.Encode()); err != nil || !reflect.DeepEqual(x.Partitions, y.Partitions) {
			t.Fatalf("%+v does not survive a round trip: %v", x, err)
		}
	})
}

// FuzzReadRun reads arbitrary payloads behind valid block headers.
func FuzzReadRun(f *testing.F) {
	f.Add([]byte{1, 1, 'k', 'v'}, uint8(None), uint8(0), 4, 1, false)
	f.Add([]byte{0, 0}, uint8(None), uint8(flagRanks), 2, 1, true)
	f.Fuzz(func(t *testing.T, payload []byte, codec, flags uint8, raw, records int, tagged bool) {
		h := blockHeader{codec: Codec(codec), flags: flags, stored: len(payload), raw: raw, records: records,
			crc: crc32.Checksum(payload, castagnoli)}
		head := make([]byte, blockHeaderSize)
		h.put(head)
		file := append(head, payload...)
		run := Run{Length: int64(len(file)), RawLength: 1 << 20, Records: 1 << 30, Tagged: tagged}
		if _, err := new(runVerifier).Write(file); err != nil && !errors.Is(err, storage.ErrCorrupt) {
			t.Fatalf("error %v", err)
		}
		r, err := newRunReader(context.Background(), memoryFile(file), &Source{Path: "fuzz", Run: run}, false)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("error %v", err)
			}
			return
		}
		defer r.close()
		for r.advance() {
			_, _ = r.key(), r.value()
		}
		if !errors.Is(r.err, storage.ErrCorrupt) {
			t.Fatalf("error %v", r.err)
		}
	})
}
