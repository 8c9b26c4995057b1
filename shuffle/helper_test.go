package shuffle

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is a key and a value as strings.
type pair struct{ key, value string }

func (p pair) String() string {
	return fmt.Sprintf("%q=%q", clip([]byte(p.key)), clip([]byte(p.value)))
}

func testOptions(t testing.TB, partitions int) Options {
	return Options{
		FS: local.New(local.Options{}), Path: filepath.Join(t.TempDir(), "attempt", "data"),
		Partitions: partitions, Memory: minMemory,
	}
}

// sortedTwin returns the expected output of a SortBuffer: it sorts all records at once.
func sortedTwin(records []pair, partitions int, partition func([]byte) int) [][]pair {
	parts := make([][]pair, partitions)
	for _, r := range records {
		p := partition([]byte(r.key))
		parts[p] = append(parts[p], r)
	}
	for _, part := range parts {
		slices.SortStableFunc(part, func(a, b pair) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	}
	return parts
}

// readMerge reads the remaining records of a merge.
func readMerge(t testing.TB, m *Merge) []pair {
	t.Helper()
	var got []pair
	for m.Next() {
		got = append(got, pair{string(m.Key()), string(m.Value())})
	}
	must.Do(t, m.Err())
	must.Do(t, m.Close())
	return got
}

func mergeSources(t testing.TB, sources []Source) *Merge {
	t.Helper()
	m, err := NewMerge(context.Background(), sources, MergeOptions{})
	must.Do(t, err)
	return m
}

// readIndexed reads every partition of a finished collector's output, using the stored
// index.
func readIndexed(t testing.TB, fsys storage.FS, x *Index) [][]pair {
	t.Helper()
	stored, err := ReadIndex(context.Background(), fsys, x.Path)
	must.Do(t, err)
	if stored.Checksum != x.Checksum {
		t.Fatalf("stored index has checksum %#x, returned one %#x", stored.Checksum, x.Checksum)
	}
	parts := make([][]pair, len(stored.Partitions))
	for p := range parts {
		parts[p] = readMerge(t, mergeSources(t, stored.Sources(fsys, p, Ordinal{Input: 7})))
	}
	return parts
}

func samePairs(t testing.TB, got, want []pair) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records instead of %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("record %d of %d is %v instead of %v", i, len(got), got[i], want[i])
		}
	}
}

// collectSorted passes records through a SortBuffer.
func collectSorted(t testing.TB, o Options, records []pair) (*Index, Stats) {
	t.Helper()
	b, err := NewSortBuffer(context.Background(), o)
	must.Do(t, err)
	for _, r := range records {
		b.Emit([]byte(r.key), []byte(r.value))
	}
	x, err := b.Finish(context.Background())
	must.Do(t, err)
	return x, b.Stats()
}

// recordKinds generates inputs for which sorting must be correct and fast.
var recordKinds = map[string]func(r *rand.Rand, n int) []pair{
	"random":    numbered(func(r *rand.Rand, _ int) string { return randomKey(r, 10) }),
	"short":     numbered(func(r *rand.Rand, _ int) string { return randomKey(r, 1) }),
	"equal":     numbered(func(*rand.Rand, int) string { return "the same key for all" }),
	"sorted":    numbered(func(_ *rand.Rand, i int) string { return fmt.Sprintf("%09d", i) }),
	"reverse":   numbered(func(_ *rand.Rand, i int) string { return fmt.Sprintf("%09d", 1<<29-i) }),
	"decimal":   numbered(func(r *rand.Rand, _ int) string { return fmt.Sprintf("c%08d-%d", r.IntN(5000), r.IntN(3)) }),
	"few":       numbered(func(r *rand.Rand, _ int) string { return strings.Repeat("key", 1+r.IntN(6)) }),
	"prefix":    numbered(func(r *rand.Rand, _ int) string { return string(make([]byte, 300)) + randomKey(r, 14) }),
	"lengths":   numbered(func(r *rand.Rand, _ int) string { return string(make([]byte, r.IntN(40))) }),
	"nested":    numbered(func(r *rand.Rand, _ int) string { return string(bytes.Repeat([]byte("ab"), r.IntN(50))) + "c" }),
	"zipf":      zipfRecords,
	"few large": numbered(largeSometimes),
}

func numbered(key func(r *rand.Rand, i int) string) func(*rand.Rand, int) []pair {
	return func(r *rand.Rand, n int) []pair {
		records := make([]pair, n)
		for i := range records {
			records[i] = pair{key(r, i), fmt.Sprint(i)}
		}
		return records
	}
}

func randomKey(r *rand.Rand, most int) string {
	b := make([]byte, r.IntN(most+1))
	for i := range b {
		b[i] = "\x00\x01aab\xff"[r.IntN(6)]
	}
	return string(b)
}

func largeSometimes(r *rand.Rand, i int) string {
	if i%500 == 77 {
		return string(bytes.Repeat([]byte{byte('a' + r.IntN(3))}, 30000+r.IntN(70000)))
	}
	return randomKey(r, 20)
}

func zipfRecords(r *rand.Rand, n int) []pair {
	z := rand.NewZipf(r, 1.2, 1, 5000)
	return numbered(func(*rand.Rand, int) string { return fmt.Sprintf("word%d", z.Uint64()) })(r, n)
}

// sumFold adds numbers. Its values have a fixed size.
var sumFold = Fold[int64]{
	Fold:   Always(func(acc, v int64) int64 { return acc + v }),
	Append: func(dst []byte, v int64) []byte { return binary.AppendVarint(dst, v) },
	Decode: func(src []byte) (int64, error) {
		v, n := binary.Varint(src)
		if n != len(src) {
			return 0, fmt.Errorf("not a number: %x", src)
		}
		return v, nil
	},
}

// joinFold joins strings with commas, so that the result depends on the order of folding.
var joinFold = Fold[string]{
	Fold:   Always(func(acc, v string) string { return acc + "," + v }),
	Append: func(dst []byte, v string) []byte { return append(dst, v...) },
	Decode: func(src []byte) (string, error) { return string(src), nil },
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must.Do(t, err)
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, b, 0o644))
}
