package task

import (
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/kit/meminfo"
	"github.com/hammr/hammr/shuffle"
)

// budgetShare is the part of the available memory that collectors and intakes may take beside
// mapreduce.task.io.sort.mb: one in budgetShare bytes. User code, other processes and the page
// cache need the rest.
const budgetShare = 4

// processBudget is the budget of a process. It is made at the first attempt that may use it.
type processBudget struct {
	once   sync.Once
	budget *shuffle.Budget
	peak   atomic.Int64 // most bytes that were taken at once since the last logPeak
}

// budgetOf returns the memory that an attempt's collectors and intakes may use beside
// mapreduce.task.io.sort.mb; nil if the user has set that property, which is then the limit.
// limit is that of the process, 0 for none.
func (p *processBudget) budgetOf(c *conf.Conf, limit int64) *shuffle.Budget {
	if c.IsSet(conf.SortMB) {
		return nil
	}
	p.once.Do(func() { p.budget = newBudget(limit, func(taken int64) { p.peak.Store(max(taken, p.peak.Load())) }) })
	return p.budget
}

// logPeak logs how far collectors and intakes have grown, if they have. Attempts that shared
// the process have shared the memory.
func (p *processBudget) logPeak(log *slog.Logger) {
	if peak := p.peak.Swap(0); peak > 0 {
		log.Info("memory beside "+conf.SortMB, "peakBytes", peak, "rssBytes", counter.ResidentBytes())
	}
}

// newBudget makes the budget of a process, and calls changed with what is taken now. What is
// taken from it belongs neither to the garbage nor to the live heap of user code, so the limit
// of the garbage collector follows: it falls in a process with a limit, and rises in one that
// has what the machine has.
func newBudget(limit int64, changed func(taken int64)) *shuffle.Budget {
	available := func() int64 { return availableMemory(limit) }
	heapLimit, sign := debug.SetMemoryLimit(-1), int64(1)
	if limit > 0 {
		sign = -1
	}
	return shuffle.NewBudget(shuffle.BudgetConfig{
		Bytes: available() / budgetShare, Available: available,
		Changed: func(taken int64) {
			changed(taken)
			if heapLimit < math.MaxInt64 {
				debug.SetMemoryLimit(heapLimit + sign*taken)
			}
		},
	})
}

// availableMemory returns how many bytes the process can still allocate.
func availableMemory(limit int64) int64 {
	available := meminfo.Available()
	if limit > 0 {
		available = min(available, limit-counter.ResidentBytes())
	}
	return available
}
