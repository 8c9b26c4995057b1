package shuffle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// phases draws records whose keys are nearly all different for a while, then repeat, and so on.
func phases(rt *rapid.T) []pair {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
	var records []pair
	for range rapid.IntRange(1, 5).Draw(rt, "phases") {
		domain := rapid.SampledFrom([]int{5, 300, 20_000, 1 << 40}).Draw(rt, "keys")
		padding := strings.Repeat("p", rapid.SampledFrom([]int{0, 5, 12, 40, 3000}).Draw(rt, "padding"))
		for range rapid.IntRange(0, 6000).Draw(rt, "records") / (1 + len(padding)/300) {
			key := padding[:len(padding)/2] + strconv.Itoa(r.IntN(domain)) + padding[len(padding)/2:]
			records = append(records, pair{key, strconv.Itoa(len(records))})
		}
	}
	return records
}

func TestFoldTableBypassFoldsLikeMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := testOptions(t, rapid.SampledFrom([]int{1, 3, 300}).Draw(rt, "partitions"))
		o.Memory = rapid.Int64Range(minMemory, 256<<10).Draw(rt, "memory")
		o.MaxRuns = rapid.IntRange(1, 6).Draw(rt, "max runs")
		o.Budget = testBudget(rapid.Int64Range(0, 1<<20).Draw(rt, "budget"))
		records := phases(rt)
		x, stats := collectFolded(t, o, joinFold, records, func(s string) string { return s })
		checkFolded(t, o, x, records)
		if stats.Records != int64(len(records)) {
			rt.Fatalf("%d records counted instead of %d", stats.Records, len(records))
		}
		if left := stats.Records - (stats.CombineIn - stats.CombineOut); left != recordsOf(x) {
			rt.Fatalf("counters of the combiner leave %d records; %d are written", left, recordsOf(x))
		}
		if taken := o.Budget.mu.taken; taken != 0 {
			rt.Fatalf("%d bytes are not given back", taken)
		}
		onlyFiles(t, filepath.Dir(o.Path), "data", "data.index")
	})
}

func recordsOf(x *Index) (n int64) {
	for _, runs := range x.Partitions {
		for _, r := range runs {
			n += r.Records
		}
	}
	return n
}

// TestFoldTableBypassEnds checks when a table is bypassed, and when it is used again.
func TestFoldTableBypassEnds(t *testing.T) {
	o := testOptions(t, 2)
	o.Memory = 1 << 20
	table, err := NewFoldTable(context.Background(), o, sumFold)
	must.Do(t, err)
	emit := func(n, domain int) {
		for i := range n {
			table.Emit(strconv.AppendInt(nil, int64(i%domain), 10), 1)
		}
	}
	if emit(100, 100); table.log != nil {
		t.Error("a table that has space is bypassed")
	}
	if emit(100_000, 100_000); table.log == nil {
		t.Error("different keys do not bypass the table")
	}
	if emit(100_000, 100); table.log != nil {
		t.Error("keys that repeat still bypass the table")
	}
	if emit(100_000, 100_000); table.log == nil {
		t.Error("different keys do not bypass the table again")
	}
	if table.Buffered() == 0 {
		t.Error("a log with records has nothing to write")
	}
	must.Do(t, table.Abort())
}

// TestFoldTableBypassBorrows checks that a log with a budget needs no second spill.
func TestFoldTableBypassBorrows(t *testing.T) {
	o := testOptions(t, 2)
	o.Memory, o.Budget = 1<<20, testBudget(64<<20)
	x, stats := collectFolded(t, o, sumFold, numberedKeys(200_000), func(string) int64 { return 1 })
	if stats.Spills != 2 {
		t.Errorf("%d spills instead of one of the table and one of the log", stats.Spills)
	}
	if n := recordsOf(x); n != 200_000 {
		t.Errorf("%d records", n)
	}
}

func numberedKeys(n int) []pair {
	records := make([]pair, n)
	for i := range records {
		records[i].key = fmt.Sprint("a key of more bytes than an entry has ", i)
	}
	return records
}

func TestFoldTableBypassPanics(t *testing.T) {
	fails := sumFold
	fails.Fold = func(acc, v int64) (int64, bool) { panic("fold") }
	o := testOptions(t, 1)
	table, err := NewFoldTable(context.Background(), o, fails)
	must.Do(t, err)
	for i := 0; table.log == nil; i++ {
		table.Emit(strconv.AppendInt(nil, int64(i), 10), 1)
	}
	for range 200_000 {
		table.Emit([]byte("equal"), 1)
	}
	if p := new(PanicError); !errors.As(table.Err(), &p) || p.Value != "fold" {
		t.Errorf("error %v", table.Err())
	}
	must.Do(t, table.Abort())
	onlyFiles(t, filepath.Dir(o.Path))
}
