package shuffle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// mapOutput writes the output of one map: one or several sorted runs of one partition.
func mapOutput(t testing.TB, name string, codec Codec, records []pair) (*Index, storage.FS) {
	t.Helper()
	o := testOptions(t, 1)
	o.Codec = codec
	o.MaxRuns = 10
	x, _ := collectSorted(t, o, records)
	return x, o.FS
}

// mapSources returns the sources of n maps and the expected result of merging them. The
// value of each record names its map and its number.
func mapSources(t testing.TB, r *rand.Rand, n int, kind string, codec Codec) (sources []Source, twin []pair) {
	t.Helper()
	for i := range n {
		records := recordKinds[kind](r, r.IntN(1000))
		for j := range records {
			records[j].value = fmt.Sprintf("map %d record %d", i, j)
		}
		x, fsys := mapOutput(t, fmt.Sprint(i), codec, records)
		sources = append(sources, x.Sources(fsys, 0, Ordinal{Input: int32(i)})...)
		twin = append(twin, records...)
	}
	return sources, sortedTwin(twin, 1, func([]byte) int { return 0 })[0]
}

func TestMergeLikeTwin(t *testing.T) {
	for kind := range recordKinds {
		for _, n := range []int{0, 1, 2, 3, 8} {
			t.Run(fmt.Sprint(kind, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(4, uint64(n)))
				sources, want := mapSources(t, r, n, kind, Codec(n%int(codecCount)))
				samePairs(t, readMerge(t, mergeSources(t, sources)), want)
				slices.Reverse(sources)
				samePairs(t, readMerge(t, mergeSources(t, sources)), want)
			})
		}
	}
}

// TestMergeResumes stops a merge at various records. A new merge resumes from its positions
// and yields the rest.
func TestMergeResumes(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, codec := range []Codec{None, S2} {
		sources, want := mapSources(t, r, 3, "random", codec)
		m := mergeSources(t, sources)
		samePairs(t, readMerge(t, mergeSources(t, sourcesAt(sources, m.Positions()))), want)
		for i := 0; m.Next(); i++ {
			if i%37 != 0 && i < len(want)-3 {
				continue
			}
			again := mergeSources(t, sourcesAt(sources, m.Positions()))
			samePairs(t, readMerge(t, again), want[i:])
		}
		samePairs(t, readMerge(t, mergeSources(t, sourcesAt(sources, m.Positions()))), nil)
		must.Do(t, errors.Join(m.Err(), m.Close()))
	}
}

func TestGroupsLikeTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		sources, records := mapSources(t, r, rapid.IntRange(0, 4).Draw(rt, "maps"), rapid.SampledFrom([]string{"short", "random"}).Draw(rt, "kind"), None)
		prefix := rapid.SampledFrom([]func([]byte) int{nil, func(k []byte) int { return min(len(k), 1) }}).Draw(rt, "group prefix")
		length := func(k string) int {
			if prefix == nil {
				return len(k)
			}
			return prefix([]byte(k))
		}
		m, err := NewMerge(context.Background(), sources, MergeOptions{GroupPrefix: prefix})
		must.Do(rt, err)
		defer m.Close()
		g := m.Groups()
		for g.NextGroup() {
			first := records[0]
			n := 1
			for n < len(records) && records[n].key[:length(records[n].key)] == first.key[:length(first.key)] {
				n++
			}
			if string(g.Key()) != first.key {
				rt.Fatalf("group %q instead of %q", g.Key(), first.key)
			}
			for i := range r.IntN(n + 2) {
				if got := g.NextValue(); got != (i < n) {
					rt.Fatalf("value %d of %d: %v", i, n, got)
				}
				if i < n && (string(g.FullKey()) != records[i].key || string(g.Value()) != records[i].value) {
					rt.Fatalf("value %d of group %q is %q=%q", i, first.key, g.FullKey(), g.Value())
				}
			}
			records = records[n:]
			if r.IntN(10) == 0 {
				samePairs(t, readMerge(t, mergeSources(t, sourcesAt(sources, g.Boundary()))), records)
			}
		}
		if g.Err() != nil || len(records) > 0 {
			rt.Fatalf("%d records left, error %v", len(records), g.Err())
		}
	})
}

// TestMergeFindsEveryChangedByte flips bits in each byte of a data file in turn, and cuts
// the file at each byte.
func TestMergeFindsEveryChangedByte(t *testing.T) {
	for codec := range codecCount {
		records := zipfRecords(rand.New(rand.NewPCG(1, 1)), 60)
		x, fsys := mapOutput(t, "x", codec, records)
		data := readFile(t, x.Path)
		s := Source{FS: fsys, Path: "bad", Run: x.Partitions[0][0]}
		for i := range data {
			for _, bit := range []byte{1, 0x80} {
				data[i] ^= bit
				s.memory = data
				_, err := tryMerge([]Source{s})
				data[i] ^= bit
				if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "bad at offset ") {
					t.Fatalf("%v: byte %d of %d changed: error %v", codec, i, len(data), err)
				}
			}
		}
		for n := range data {
			s.memory = data[:n]
			if _, err := tryMerge([]Source{s}); !errors.Is(err, storage.ErrCorrupt) {
				t.Fatalf("%v: file cut at %d: error %v", codec, n, err)
			}
		}
	}
}

// TestMergeOfCutFile truncates the file on disk.
func TestMergeOfCutFile(t *testing.T) {
	x, fsys := mapOutput(t, "x", None, zipfRecords(rand.New(rand.NewPCG(1, 1)), 60))
	writeFile(t, x.Path, readFile(t, x.Path)[:100])
	_, err := tryMerge(x.Sources(fsys, 0, Ordinal{Input: 0}))
	if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), x.Path+" at offset 0: ") {
		t.Fatalf("error %v", err)
	}
}

// tryMerge reads a merge to its end or its first error.
func tryMerge(sources []Source) (n int, err error) {
	m, err := NewMerge(context.Background(), sources, MergeOptions{})
	if err != nil {
		return 0, err
	}
	for m.Next() {
		n++
	}
	return n, errors.Join(m.Err(), m.Close())
}

// TestMergeNoticesMissingBlocks cuts a run after its first block. That block is valid, but
// the run is incomplete.
func TestMergeNoticesMissingBlocks(t *testing.T) {
	o := testOptions(t, 1)
	o.Memory = 1 << 20
	x, _ := collectSorted(t, o, numbered(func(_ *rand.Rand, i int) string { return fmt.Sprintf("%050d", i) })(nil, 3000))
	run := x.Partitions[0][0]
	r, err := newRunReader(context.Background(), memoryFile(readFile(t, x.Path)), &Source{Path: x.Path, Run: run}, false)
	if err != nil || !r.advance() {
		t.Fatal(err)
	}
	short := run
	short.Length = r.next
	if short.Length == run.Length {
		t.Fatal("a run of several blocks is needed")
	}
	if _, err := tryMerge([]Source{{FS: o.FS, Path: x.Path, Run: short}}); !errors.Is(err, storage.ErrCorrupt) {
		t.Fatalf("run cut at a block: error %v", err)
	}
}

func TestMergeOfMissingFile(t *testing.T) {
	s := Source{FS: local.New(local.Options{}), Path: "/nowhere/data", Run: Run{Length: 1}}
	if _, err := NewMerge(context.Background(), []Source{s}, MergeOptions{}); err == nil || !strings.Contains(err.Error(), "/nowhere/data") {
		t.Fatalf("error %v does not name the file", err)
	}
}

func TestMergeStopsWithItsContext(t *testing.T) {
	sources, _ := mapSources(t, rand.New(rand.NewPCG(1, 2)), 2, "sorted", None)
	ctx, cancel := context.WithCancel(context.Background())
	m, err := NewMerge(ctx, sources, MergeOptions{})
	must.Do(t, err)
	defer m.Close()
	cancel()
	if m.Next() || !errors.Is(m.Err(), context.Canceled) {
		t.Fatalf("error %v after the context was cancelled", m.Err())
	}
}

// TestMergeCopiesRepeats merges runs into one, and compares it with the sorted records. Runs of
// records that repeat a key, with values of the same length and of different ones, are shorter
// and longer than a block.
func TestMergeCopiesRepeats(t *testing.T) {
	for _, codec := range []Codec{None, S2} {
		var records []pair
		for i := range 60_000 {
			key := []string{"a", "bb", "a key that is longer than a sort key", "a key that is longer than a sort key!"}[i*i%7%4]
			value := "constant"
			if i%1000 < 20 {
				value = strings.Repeat("x", i%20)
			}
			records = append(records, pair{key, value})
		}
		o := testOptions(t, 1)
		o.Codec, o.MaxRuns, o.Memory = codec, 1, 256<<10
		x, stats := collectSorted(t, o, records)
		if runs := len(x.Partitions[0]); runs != 1 || stats.Spills < 2 {
			t.Fatalf("%d runs of %d spills", runs, stats.Spills)
		}
		samePairs(t, readIndexed(t, o.FS, x)[0], sortedTwin(records, 1, func([]byte) int { return 0 })[0])
	}
}
