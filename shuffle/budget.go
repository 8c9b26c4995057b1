package shuffle

import "sync"

// Budget is memory that the collectors and intakes of a process share, beside the Memory that
// each of them has. A FoldTable or an Intake takes from it before it would spill, and gives
// back what it took when it spills or ends:
//
//	Memory ──full──► TryTake ──► larger ──full──► TryTake ─ no ─► spill, Give
//
// How much there is changes when a collector spills, but never its output. A nil Budget has
// nothing. Any goroutine may call its methods.
type Budget struct {
	cfg BudgetConfig
	mu  struct {
		sync.Mutex
		taken int64 // 0 ≤ taken ≤ cfg.Bytes
	}
}

// BudgetConfig configures a Budget.
type BudgetConfig struct {
	// Bytes is how much may be taken together.
	Bytes int64

	// Available returns how many bytes the process can still allocate. At least half of it is
	// left to others. It is called each time that memory is taken. Default: any number.
	Available func() int64

	// Changed is called with the bytes that are taken now. Default none.
	Changed func(taken int64)
}

// NewBudget makes a Budget, none of which is taken.
func NewBudget(cfg BudgetConfig) *Budget { return &Budget{cfg: cfg} }

// bytes returns how much may be taken together.
func (b *Budget) bytes() int64 {
	if b == nil {
		return 0
	}
	return b.cfg.Bytes
}

// TryTake takes n bytes if as many are free, and reports whether it did.
func (b *Budget) TryTake(n int64) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.taken+n > b.cfg.Bytes || b.cfg.Available != nil && b.cfg.Available() < 2*n {
		return false
	}
	b.addLocked(n)
	return true
}

// Give returns n bytes that TryTake took.
func (b *Budget) Give(n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addLocked(-n)
}

func (b *Budget) addLocked(n int64) {
	b.mu.taken += n
	if b.cfg.Changed != nil {
		b.cfg.Changed(b.mu.taken)
	}
}
