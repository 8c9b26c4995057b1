package shuffle

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestSortBufferSortsLikeTwin(t *testing.T) {
	for name, kind := range recordKinds {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			records := kind(r, 6000)
			o := testOptions(t, 3)
			x, stats := collectSorted(t, o, records)
			want := sortedTwin(records, 3, func(k []byte) int { return HashPartition(k, 3) })
			for p, got := range readIndexed(t, o.FS, x) {
				samePairs(t, got, want[p])
			}
			if stats.Records != 6000 || stats.Spills < 2 {
				t.Errorf("stats %+v: expected 6000 records in several spills", stats)
			}
		})
	}
}

func TestSortBufferAnyOptions(t *testing.T) {
	names := []string{"random", "short", "equal", "prefix", "lengths", "few large"}
	rapid.Check(t, func(rt *rapid.T) {
		o := testOptions(t, rapid.SampledFrom([]int{1, 2, 7, 300}).Draw(rt, "partitions"))
		o.Memory = rapid.Int64Range(minMemory, 1<<20).Draw(rt, "memory")
		o.SpillPercent = rapid.SampledFrom([]float64{0.01, 0.5, 0.8, 1}).Draw(rt, "spill percent")
		o.Factor = rapid.IntRange(2, 5).Draw(rt, "factor")
		o.MaxRuns = rapid.IntRange(1, 6).Draw(rt, "max runs")
		o.Codec = Codec(rapid.IntRange(0, int(codecCount)-1).Draw(rt, "codec"))
		seed := rapid.Uint64().Draw(rt, "seed")
		n := rapid.IntRange(0, 4000).Draw(rt, "records")
		records := recordKinds[rapid.SampledFrom(names).Draw(rt, "kind")](rand.New(rand.NewPCG(seed, 0)), n)
		x, _ := collectSorted(t, o, records)
		want := sortedTwin(records, o.Partitions, func(k []byte) int { return HashPartition(k, o.Partitions) })
		for p, got := range readIndexed(t, o.FS, x) {
			if len(x.Partitions[p]) > o.MaxRuns {
				rt.Fatalf("%d runs published where %d are allowed", len(x.Partitions[p]), o.MaxRuns)
			}
			samePairs(t, got, want[p])
		}
		onlyFiles(t, filepath.Dir(o.Path), "data", "data.index")
	})
}

// onlyFiles fails the test unless a directory contains exactly these files.
func onlyFiles(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("directory holds %q instead of %q", got, want)
	}
}

func TestSortBufferLargeRecords(t *testing.T) {
	o := testOptions(t, 2)
	r := rand.New(rand.NewPCG(3, 4))
	var records []pair
	for i := range 300 {
		value := "small"
		if i%40 == 5 {
			value = strings.Repeat(string(rune('a'+i%26)), 1<<20)
		}
		records = append(records, pair{randomKey(r, 1), value})
	}
	x, _ := collectSorted(t, o, records)
	want := sortedTwin(records, 2, func(k []byte) int { return HashPartition(k, 2) })
	for p, got := range readIndexed(t, o.FS, x) {
		samePairs(t, got, want[p])
	}
}

func TestSortBufferCombines(t *testing.T) {
	for _, maxRuns := range []int{1, 4, 100} {
		o := testOptions(t, 2)
		o.MaxRuns = maxRuns
		o.Combine = func(key []byte, values *Values, emit func(k, v []byte)) error {
			var all []string
			for v := range values.All() {
				all = append(all, string(v))
			}
			emit(key, []byte(strings.Join(all, ",")))
			return nil
		}
		records := zipfRecords(rand.New(rand.NewPCG(5, 6)), 20000)
		x, stats := collectSorted(t, o, records)
		got := readIndexed(t, o.FS, x)
		joinRuns(got)
		want := sortedTwin(records, 2, func(k []byte) int { return HashPartition(k, 2) })
		joinRuns(want)
		for p := range got {
			samePairs(t, got[p], want[p])
		}
		if stats.CombineIn < 20000 || stats.CombineOut >= stats.CombineIn {
			t.Errorf("stats %+v: expected 20000 records to be combined to fewer", stats)
		}
	}
}

// joinRuns joins the values of adjacent equal keys with commas.
func joinRuns(parts [][]pair) {
	for p, part := range parts {
		var joined []pair
		for _, r := range part {
			if n := len(joined); n > 0 && joined[n-1].key == r.key {
				joined[n-1].value += "," + r.value
			} else {
				joined = append(joined, r)
			}
		}
		parts[p] = joined
	}
}

func TestSortBufferRefusesForeignKeyOfCombiner(t *testing.T) {
	o := testOptions(t, 1)
	o.Combine = func(_ []byte, _ *Values, emit func(k, v []byte)) error {
		emit([]byte("other"), nil)
		return nil
	}
	b, err := NewSortBuffer(context.Background(), o)
	must.Do(t, err)
	b.Emit([]byte("a"), nil)
	if _, err := b.Finish(context.Background()); err == nil || !strings.Contains(err.Error(), `key "other" emitted while combining "a"`) {
		t.Fatalf("error %v does not name the keys", err)
	}
	onlyFiles(t, filepath.Dir(o.Path))
}

func TestSortBufferPanicOfCombiner(t *testing.T) {
	o := testOptions(t, 1)
	o.Combine = func([]byte, *Values, func(k, v []byte)) error { panic("user bug") }
	b, err := NewSortBuffer(context.Background(), o)
	must.Do(t, err)
	for range 5000 {
		b.Emit([]byte("some key"), []byte("and a value"))
	}
	_, err = b.Finish(context.Background())
	var p *PanicError
	if !errors.As(err, &p) || p.Value != "user bug" || !strings.Contains(string(p.Stack), "TestSortBufferPanicOfCombiner") {
		t.Fatalf("error %v is not the panic with its stack", err)
	}
	onlyFiles(t, filepath.Dir(o.Path))
}

func TestSortBufferAbortLeavesNothing(t *testing.T) {
	for _, n := range []int{0, 10, 5000} {
		o := testOptions(t, 2)
		b, err := NewSortBuffer(context.Background(), o)
		must.Do(t, err)
		for range n {
			b.Emit([]byte("some key"), []byte("and a value"))
		}
		must.Do(t, b.Abort())
		onlyFiles(t, filepath.Dir(o.Path))
	}
}

func TestSortBufferRefusesPartitionOutside(t *testing.T) {
	for _, p := range []int{-1, 2} {
		o := testOptions(t, 2)
		o.Partition = func([]byte) int { return p }
		b, err := NewSortBuffer(context.Background(), o)
		must.Do(t, err)
		b.Emit([]byte("k"), nil)
		if b.Err() == nil {
			t.Errorf("partition %d accepted", p)
		}
		if _, err := b.Finish(context.Background()); err == nil {
			t.Errorf("finished after partition %d", p)
		}
	}
}
