package paper

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// LeftOut is the error of a trial that lacks something on this machine that other trials do
// not need. The report leaves out its arm, and gives the reason.
type LeftOut struct{ Reason string }

// Error implements error.
func (l *LeftOut) Error() string { return l.Reason }

// skipRecorder records in a report the trials that another Runner leaves out. Their outcomes
// are nil.
type skipRecorder struct {
	Runner
	report *Report
	mu     sync.Mutex // guards report.Skipped
}

// Run implements Runner.
func (l *skipRecorder) Run(ctx context.Context, t Trial) (*Outcome, error) {
	o, err := l.Runner.Run(ctx, t)
	var out *LeftOut
	if !errors.As(err, &out) {
		return o, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := (Skipped{t.Experiment + ", arm " + t.Arm, out.Reason}); !slices.Contains(l.report.Skipped, left) {
		l.report.Skipped = append(l.report.Skipped, left)
	}
	return nil, nil
}
