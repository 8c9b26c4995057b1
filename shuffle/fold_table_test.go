package shuffle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// foldTwin is the dumb twin of a fold table: it folds records with a map.
func foldTwin(records []pair) map[string]string {
	m := make(map[string]string)
	for _, r := range records {
		if old, ok := m[r.key]; ok {
			m[r.key] = old + "," + r.value
		} else {
			m[r.key] = r.value
		}
	}
	return m
}

func collectFolded[V any](t testing.TB, o Options, f Fold[V], records []pair, value func(string) V) (*Index, Stats) {
	t.Helper()
	table, err := NewFoldTable(context.Background(), o, f)
	must.Do(t, err)
	var key []byte
	for _, r := range records {
		key = append(key[:0], r.key...)
		table.Emit(key, value(r.value))
	}
	clear(key)
	x, err := table.Finish(context.Background())
	must.Do(t, err)
	return x, table.Stats()
}

// checkFolded compares the output of a fold that joins values with the output of foldTwin.
func checkFolded(t testing.TB, o Options, x *Index, records []pair) {
	t.Helper()
	parts := readIndexed(t, o.FS, x)
	joinRuns(parts)
	want := foldTwin(records)
	total := 0
	for p, part := range parts {
		total += len(part)
		if !slices.IsSortedFunc(part, func(a, b pair) int { return strings.Compare(a.key, b.key) }) {
			t.Fatalf("partition %d is not sorted", p)
		}
		for _, r := range part {
			if HashPartition([]byte(r.key), o.Partitions) != p {
				t.Fatalf("key %q in partition %d", r.key, p)
			}
			if want[r.key] != r.value {
				t.Fatalf("key %q has %.50q instead of %.50q", r.key, r.value, want[r.key])
			}
		}
	}
	if total != len(want) {
		t.Fatalf("%d keys instead of %d", total, len(want))
	}
}

func TestFoldTableFoldsLikeMap(t *testing.T) {
	kinds := []string{"random", "short", "equal", "sorted", "prefix", "lengths", "nested", "zipf", "few large"}
	rapid.Check(t, func(rt *rapid.T) {
		o := testOptions(t, rapid.SampledFrom([]int{1, 2, 7}).Draw(rt, "partitions"))
		o.Memory = rapid.Int64Range(minMemory, 1<<20).Draw(rt, "memory")
		o.Factor = rapid.IntRange(2, 5).Draw(rt, "factor")
		o.MaxRuns = rapid.IntRange(1, 6).Draw(rt, "max runs")
		o.Codec = Codec(rapid.IntRange(0, int(codecCount)-1).Draw(rt, "codec"))
		seed := rapid.Uint64().Draw(rt, "seed")
		n := rapid.IntRange(0, 8000).Draw(rt, "records")
		records := recordKinds[rapid.SampledFrom(kinds).Draw(rt, "kind")](rand.New(rand.NewPCG(seed, 1)), n)
		x, stats := collectFolded(t, o, joinFold, records, func(s string) string { return s })
		checkFolded(t, o, x, records)
		if stats.Records != int64(n) {
			rt.Fatalf("%d records counted instead of %d", stats.Records, n)
		}
		onlyFiles(t, filepath.Dir(o.Path), "data", "data.index")
	})
}

func TestFoldTableSums(t *testing.T) {
	o := testOptions(t, 2)
	o.MaxRuns = 1
	var records []pair
	want := make(map[string]int64)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 40000 {
		key := strings.Repeat("x", i%20) + strconv.Itoa(r.IntN(3000))
		records = append(records, pair{key, strconv.Itoa(i)})
		want[key] += int64(i)
	}
	x, stats := collectFolded(t, o, sumFold, records, func(s string) int64 {
		v, _ := strconv.ParseInt(s, 10, 64)
		return v
	})
	if stats.Spills < 3 {
		t.Fatalf("stats %+v: several spills expected", stats)
	}
	for _, part := range readIndexed(t, o.FS, x) {
		for _, p := range part {
			got, err := sumFold.Decode([]byte(p.value))
			if err != nil || got != want[p.key] {
				t.Fatalf("key %q has %d instead of %d (%v)", p.key, got, want[p.key], err)
			}
			delete(want, p.key)
		}
	}
	if len(want) > 0 {
		t.Fatalf("%d keys missing", len(want))
	}
}

func TestFoldTableDistinguishesKeys(t *testing.T) {
	var records []pair
	for n := range 40 {
		records = append(records, pair{strings.Repeat("\x00", n), fmt.Sprint(n)})
		records = append(records, pair{strings.Repeat("a", n) + "\x00", fmt.Sprint("a", n)})
	}
	records = append(records, records...)
	o := testOptions(t, 1)
	x, _ := collectFolded(t, o, joinFold, records, func(s string) string { return s })
	checkFolded(t, o, x, records)
}

func TestFoldTableCopiesValues(t *testing.T) {
	latest := Fold[[]byte]{
		Fold:   Always(func(_, v []byte) []byte { return v }),
		Append: func(dst, v []byte) []byte { return append(dst, v...) },
		Decode: func(src []byte) ([]byte, error) { return src, nil },
	}
	for _, keys := range []int{3, 4000} { // the second table is spilled, and merges its spills
		o := testOptions(t, 1)
		o.MaxRuns = 1
		table, err := NewFoldTable(context.Background(), o, latest)
		must.Do(t, err)
		key, value := make([]byte, 0, 16), make([]byte, 0, 16)
		var want []pair
		for i := range 10 * keys {
			key = fmt.Appendf(key[:0], "%06d", i%keys)
			value = strconv.AppendInt(value[:0], int64(i), 10)
			table.Emit(key, value)
			if i >= 9*keys {
				want = append(want, pair{string(key), string(value)})
			}
		}
		x, err := table.Finish(context.Background())
		must.Do(t, err)
		if spilled := table.Stats().Spills >= 3; spilled != (keys > 3) {
			t.Errorf("%d keys: %d spills", keys, table.Stats().Spills)
		}
		samePairs(t, readIndexed(t, o.FS, x)[0], want)
	}
}

func TestFoldTableAbortLeavesNothing(t *testing.T) {
	o := testOptions(t, 2)
	table, err := NewFoldTable(context.Background(), o, sumFold)
	must.Do(t, err)
	for i := range 50000 {
		table.Emit(strconv.AppendInt(nil, int64(i), 10), 1)
	}
	if table.Stats().Spills == 0 {
		t.Fatal("no spill before Abort")
	}
	must.Do(t, table.Abort())
	onlyFiles(t, filepath.Dir(o.Path))
}
