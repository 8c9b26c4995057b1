package shuffle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

func testBudget(bytes int64) *Budget { return NewBudget(BudgetConfig{Bytes: bytes}) }

func TestBudget(t *testing.T) {
	available, reported := int64(100), int64(0)
	b := NewBudget(BudgetConfig{
		Bytes: 10, Available: func() int64 { return available }, Changed: func(taken int64) { reported = taken },
	})
	for i, want := range []bool{true, false, true, false} {
		if n := []int64{6, 5, 4, 1}[i]; b.TryTake(n) != want {
			t.Errorf("take %d: not %v", n, want)
		}
	}
	if b.Give(3); reported != 7 || b.TryTake(4) {
		t.Errorf("%d bytes are taken instead of 7", reported)
	}
	if available = 3; b.TryTake(2) || !b.TryTake(1) || reported != 8 {
		t.Errorf("%d bytes are taken while 3 are available", reported)
	}
	none := (*Budget)(nil)
	if none.Give(5); none.TryTake(1) {
		t.Error("a nil budget has memory")
	}
}

// TestFoldTableUnderAnyBudget checks that a budget changes no output, and that a table gives
// back what it takes.
func TestFoldTableUnderAnyBudget(t *testing.T) {
	kinds := []string{"random", "short", "prefix", "lengths", "zipf", "few large"}
	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.Int64Range(0, 4<<20).Draw(rt, "budget")
		o := testOptions(t, rapid.SampledFrom([]int{1, 3}).Draw(rt, "partitions"))
		o.Memory = rapid.Int64Range(minMemory, 256<<10).Draw(rt, "memory")
		o.MaxRuns, o.Budget = rapid.IntRange(1, 6).Draw(rt, "max runs"), testBudget(total)
		seed := rapid.Uint64().Draw(rt, "seed")
		records := recordKinds[rapid.SampledFrom(kinds).Draw(rt, "kind")](rand.New(rand.NewPCG(seed, 1)), rapid.IntRange(0, 12000).Draw(rt, "records"))
		x, _ := collectFolded(t, o, joinFold, records, func(s string) string { return s })
		checkFolded(t, o, x, records)
		if taken := o.Budget.mu.taken; taken != 0 {
			rt.Fatalf("%d bytes are not given back", taken)
		}
	})
}

// TestFoldTableBorrows checks when a table takes more memory.
func TestFoldTableBorrows(t *testing.T) {
	tests := map[string]struct {
		budget  int64
		records int // records per key
		long    bool
		spills  bool
	}{
		"enough for all keys":     {budget: 64 << 20, records: 4},
		"long keys":               {budget: 64 << 20, records: 4, long: true},
		"no budget":               {records: 4, spills: true},
		"a small budget":          {budget: 1 << 20, records: 4, spills: true},
		"keys that do not repeat": {budget: 64 << 20, records: 1, spills: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := testOptions(t, 2)
			o.Memory, o.Budget = 1<<20, testBudget(tt.budget)
			table, err := NewFoldTable(context.Background(), o, sumFold)
			must.Do(t, err)
			var key []byte
			for i := range 60_000 {
				key = strconv.AppendInt(key[:0], int64(i), 10)
				if tt.long {
					key = fmt.Appendf(key, "%0100d", i)
				}
				for range tt.records {
					table.Emit(key, 1)
				}
			}
			if spilled := table.Stats().Spills > 0; spilled != tt.spills {
				t.Errorf("spilled: %v", spilled)
			}
			must.Do(t, table.Abort())
			if taken := o.Budget.mu.taken; taken != 0 {
				t.Errorf("%d bytes are not given back", taken)
			}
		})
	}
}

// TestIntakeGrows checks that segments stay in memory while the budget lasts.
func TestIntakeGrows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	sources, want := mapSources(t, r, 8, "random", None)
	for name, tt := range map[string]struct {
		budget int64
		disk   bool // whether some records go to disk
	}{"enough": {16 << 20, false}, "none": {0, true}} {
		t.Run(name, func(t *testing.T) {
			o := intakeOptions(t)
			o.Memory, o.InMemThreshold, o.Budget = 8<<10, -1, testBudget(tt.budget)
			in, err := NewIntake(o)
			must.Do(t, err)
			for _, s := range sources {
				must.Do(t, addOne(in, s, false))
			}
			samePairs(t, readMerge(t, finalMerge(t, in)), want)
			if s := in.Stats(); (s.InMemory < s.Segments || s.Merges > 0) != tt.disk {
				t.Errorf("stats %+v", s)
			}
			must.Do(t, in.Close())
			if taken := o.Budget.mu.taken; taken != 0 {
				t.Errorf("%d bytes are not given back", taken)
			}
		})
	}
}
