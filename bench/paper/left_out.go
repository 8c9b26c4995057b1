package paper

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// LeftOut is the error of a trial that cannot be run where it was to be run, for
// want of something that others do not need. A report does without its arm, and
// says why.
type LeftOut struct{ Reason string }

// Error implements error.
func (l *LeftOut) Error() string { return l.Reason }

// skipRecorder has a report note the trials that another Runner leaves out. Their
// outcomes are nil.
type skipRecorder struct {
	Runner
	report *Report
	mu     sync.Mutex // guards report.Left
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
