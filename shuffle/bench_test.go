package shuffle

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/storage/local"
)

// benchDir returns a directory in memory if the system has /dev/shm, so that the benchmark
// does not measure disks.
func benchDir(b *testing.B) string {
	if dir, err := os.MkdirTemp("/dev/shm", "shuffle"); err == nil {
		b.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return b.TempDir()
}

func benchOptions(b *testing.B, partitions int) Options {
	return Options{
		FS: local.New(local.Options{}), Path: filepath.Join(benchDir(b), "data"),
		Partitions: partitions, Memory: 128 << 20,
	}
}

// BenchmarkFoldTableAdd counts words drawn from 200,000 in a Zipf distribution. One op is
// one word.
func BenchmarkFoldTableAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 1, 199999)
	words := make([][]byte, 200000)
	for i := range words {
		words[i] = []byte(fmt.Sprintf("%x", rand.Uint64()>>(8*r.UintN(7))))[:]
	}
	stream := make([][]byte, 1<<20)
	text := make([]byte, 0, 16<<20)
	for i := range stream {
		w := words[z.Uint64()]
		text = append(text, w...)
		stream[i] = text[len(text)-len(w):]
		text = append(text, ' ')
	}
	t, err := NewFoldTable(context.Background(), benchOptions(b, 2), sumFold)
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range stream {
		t.Emit(w, 1)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		t.Emit(stream[i&(1<<20-1)], 1)
	}
	b.StopTimer()
	if err := t.Abort(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFoldTableDistinct counts keys most of which occur once, so that the table spills
// several times. One op is the whole input, with its merge.
func BenchmarkFoldTableDistinct(b *testing.B) {
	for _, size := range []int{8, 14, 24} {
		b.Run(fmt.Sprint(size, " byte keys"), func(b *testing.B) { benchDistinct(b, size) })
	}
	b.Run("pairs", func(b *testing.B) {
		r := rand.New(rand.NewPCG(3, 4))
		data := make([]byte, 0, 32<<21)
		for range 1 << 21 {
			data = fmt.Appendf(data, "user%012d/page%011d", r.IntN(1<<16), r.IntN(1<<10))
		}
		benchFold(b, data, 32)
	})
}

// BenchmarkFoldTableStrings folds values with a string, as PageRank does. One op is one
// record.
func BenchmarkFoldTableStrings(b *testing.B) {
	f := labelledFold(func(acc, v labelled) labelled { acc.N += v.N; return acc })
	f.Append = func(dst []byte, v labelled) []byte { return append(binary.AppendVarint(dst, v.N), v.Name...) }
	f.Decode = func(src []byte) (v labelled, err error) {
		n, at := binary.Varint(src)
		return labelled{N: n, Name: string(src[at:])}, nil
	}
	t, err := NewFoldTable(context.Background(), benchOptions(b, 2), f)
	if err != nil {
		b.Fatal(err)
	}
	keys := make([][]byte, 1<<17)
	for i := range keys {
		keys[i] = fmt.Append(nil, i)
	}
	b.ReportAllocs()
	for i := range b.N {
		t.Emit(keys[i*7919&(1<<17-1)], labelled{N: 1, Name: "a b c d"})
	}
	b.StopTimer()
	if err := t.Abort(); err != nil {
		b.Fatal(err)
	}
}

// benchDistinct folds 4 million random keys, of which 3 million are distinct.
func benchDistinct(b *testing.B, size int) {
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, size<<22)
	for i := 0; i < len(data); i += size {
		n := r.Uint64N(6 << 20)
		for j := range size {
			data[i+j] = byte((n + 1) * 0x9e3779b97f4a7c15 >> (j % 8 * 8))
		}
	}
	benchFold(b, data, size)
}

// benchFold folds keys of one size that follow each other in data.
func benchFold(b *testing.B, data []byte, size int) {
	o := benchOptions(b, 2)
	o.Memory = 64 << 20
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for range b.N {
		t, err := NewFoldTable(context.Background(), o, sumFold)
		if err != nil {
			b.Fatal(err)
		}
		for at := 0; at < len(data); at += size {
			t.Emit(data[at:at+size], 1)
		}
		if _, err := t.Finish(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.Remove(o.Path)
		os.Remove(IndexPath(o.Path))
		b.StartTimer()
	}
}

// teraRecords returns n records, each with a random 10-byte key and a 90-byte value.
func teraRecords(n int) []byte {
	r := rand.New(rand.NewPCG(7, 7))
	data := make([]byte, n*100)
	for i := 0; i+8 <= len(data); i += 50 {
		binary.LittleEndian.PutUint64(data[i:], r.Uint64())
		binary.LittleEndian.PutUint64(data[i+2:], r.Uint64())
	}
	return data
}

func benchSort(b *testing.B, o Options, data []byte, key, record int) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for range b.N {
		s, err := NewSortBuffer(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		for at := 0; at < len(data); at += record {
			s.Emit(data[at:at+key], data[at+key:at+record])
		}
		if _, err := s.Finish(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		os.Remove(o.Path)
		os.Remove(IndexPath(o.Path))
		b.StartTimer()
	}
}

// BenchmarkSortBuffer adds, sorts and spills 128 MB of 100-byte records. One op covers all
// 128 MB.
func BenchmarkSortBuffer(b *testing.B) {
	data := teraRecords(1280000)
	b.Run("background", func(b *testing.B) { benchSort(b, benchOptions(b, 2), data, 10, 100) })
	b.Run("one thread", func(b *testing.B) {
		o := benchOptions(b, 2)
		o.SpillPercent = 1
		benchSort(b, o, data, 10, 100)
	})
	for _, mib := range []int64{8, 16, 32, 64} {
		b.Run(fmt.Sprint(mib, " MiB, unmerged"), func(b *testing.B) {
			o := benchOptions(b, 2)
			o.SpillPercent, o.Memory, o.MaxRuns = 1, mib<<20, 100
			benchSort(b, o, data, 10, 100)
		})
	}
	b.Run("16 MiB, merged", func(b *testing.B) {
		o := benchOptions(b, 2)
		o.SpillPercent, o.Memory, o.MaxRuns = 1, 16<<20, 1
		benchSort(b, o, data, 10, 100)
	})
	b.Run("5 byte records", func(b *testing.B) {
		o := benchOptions(b, 2)
		o.SpillPercent = 1
		benchSort(b, o, data[:len(data)/10], 4, 5)
	})
	b.Run("long keys", func(b *testing.B) {
		o := benchOptions(b, 2)
		o.SpillPercent = 1
		benchSort(b, o, data, 100, 100)
	})
	b.Run("long prefix", func(b *testing.B) {
		o := benchOptions(b, 2)
		o.SpillPercent = 1
		prefixed := bytes.Clone(data)
		for i := 0; i < len(prefixed); i += 100 {
			clear(prefixed[i : i+60])
		}
		benchSort(b, o, prefixed, 80, 100)
	})
	b.Run("equal keys", func(b *testing.B) {
		o := benchOptions(b, 2)
		o.SpillPercent = 1
		benchSort(b, o, make([]byte, len(data)), 10, 100)
	})
	b.Run("equal long keys", func(b *testing.B) {
		o := benchOptions(b, 2)
		o.SpillPercent = 1
		benchSort(b, o, make([]byte, len(data)), 80, 100)
	})
}

// BenchmarkMerge merges 64 runs of 100-byte records. One op merges all of them.
func BenchmarkMerge(b *testing.B) {
	data := teraRecords(1280000)
	sorted := bytes.Clone(data)
	for i := 0; i < len(sorted); i += 100 {
		binary.BigEndian.PutUint64(sorted[i:], uint64(i))
	}
	b.Run("random", func(b *testing.B) { benchMerge(b, data, 10) })
	b.Run("long keys", func(b *testing.B) { benchMerge(b, data, 90) })
	b.Run("equal", func(b *testing.B) { benchMerge(b, make([]byte, len(data)), 10) })
	b.Run("equal long keys", func(b *testing.B) { benchMerge(b, make([]byte, len(data)), 90) })
	b.Run("sorted", func(b *testing.B) { benchMerge(b, sorted, 10) })
}

func benchMerge(b *testing.B, data []byte, key int) {
	sources := benchRuns(b, data, key)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		m, err := NewMerge(context.Background(), sources, MergeOptions{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		g := m.Groups()
		for g.NextGroup() {
			for g.NextValue() {
				n += len(g.FullKey()) + len(g.Value())
			}
		}
		if g.Err() != nil || n != len(data) {
			b.Fatal(n, g.Err())
		}
		g.Close()
	}
}

// benchRuns writes 64 runs of 100-byte records.
func benchRuns(b *testing.B, data []byte, key int) (sources []Source) {
	fsys, dir, size := local.New(local.Options{}), benchDir(b), len(data)/64
	for i := range 64 {
		o := Options{FS: fsys, Path: filepath.Join(dir, fmt.Sprint(i)), Partitions: 1, SpillPercent: 1, Memory: 16 << 20}
		s, err := NewSortBuffer(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		for at := i * size; at < (i+1)*size; at += 100 {
			s.Emit(data[at:at+key], data[at+key:at+100])
		}
		x, err := s.Finish(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		sources = append(sources, x.Sources(fsys, 0, Ordinal{Input: int32(i)})...)
	}
	return sources
}
