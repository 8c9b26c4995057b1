package task

import (
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf"
)

// TestBudgetOfProcess checks that all attempts of a process share one budget, and that a user's
// mapreduce.task.io.sort.mb rules it out.
func TestBudgetOfProcess(t *testing.T) {
	var p processBudget
	c := conf.New()
	if _, err := c.Set(conf.SortMB, "30"); err != nil {
		t.Fatal(err)
	}
	if p.budgetOf(c, 0) != nil {
		t.Error("an attempt with its own sort memory has a budget")
	}
	b := p.budgetOf(conf.New(), 0)
	if b == nil || p.budgetOf(conf.New(), 0) != b {
		t.Error("the attempts of a process do not share one budget")
	}
}

// TestPeakIsLogged checks that the log shows the most that was taken at once.
func TestPeakIsLogged(t *testing.T) {
	var p processBudget
	log := newLogTail(nil)
	b := p.budgetOf(conf.New(), 0)
	p.logPeak(log.logger)
	if log.String() != "" {
		t.Errorf("nothing was taken, but the log has %q", log)
	}
	for _, n := range []int64{1000, 500} {
		if !b.TryTake(n) {
			t.Fatalf("%d bytes are not available", n)
		}
		b.Give(n)
	}
	if p.logPeak(log.logger); !strings.Contains(log.String(), "peakBytes=1000 ") {
		t.Errorf("log %q", log)
	}
}

func ignore(int64) {}

// TestBudgetMovesHeapLimit checks that the garbage collector's limit follows what is taken.
func TestBudgetMovesHeapLimit(t *testing.T) {
	const gib = 1 << 30
	before := debug.SetMemoryLimit(100 * gib)
	defer debug.SetMemoryLimit(before)
	for _, tt := range []struct{ limit, want int64 }{{0, 100*gib + 1000}, {gib, 100*gib - 1000}} {
		b := newBudget(tt.limit, ignore)
		if !b.TryTake(1000) {
			t.Fatal("1000 bytes are not available")
		}
		if got := debug.SetMemoryLimit(-1); got != tt.want {
			t.Errorf("limit %d instead of %d", got, tt.want)
		}
		b.Give(1000)
		if got := debug.SetMemoryLimit(-1); got != 100*gib {
			t.Errorf("limit %d after all is given back", got)
		}
	}
	if newBudget(gib, ignore).TryTake(gib/budgetShare + 1) {
		t.Error("a budget has more than its share of the limit")
	}
	debug.SetMemoryLimit(math.MaxInt64)
	b := newBudget(0, ignore)
	if b.TryTake(1000); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("there is a limit where there was none")
	}
}
