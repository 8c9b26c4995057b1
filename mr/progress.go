package mr

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// progressReporter passes the statuses of a job to the console: failed attempts at once,
// progress at most once an interval. It must be stopped.
//
// A status that comes too early is kept in latest and shown by a timer, so the last status of a
// burst is never lost. report is called by one goroutine; mu is for the timer's.
type progressReporter struct {
	console  *console.Console
	interval time.Duration // 0: each status is shown
	quiet    bool          // failed attempts are not shown
	failures int           // number of failed attempts seen so far

	mu struct {
		sync.Mutex
		latest  console.Progress
		shownAt time.Time   // zero before the first status
		timer   *time.Timer // shows latest when the interval is over; nil if latest is shown
		stopped bool
	}
}

// newProgressReporter follows the properties of the client:
// mapreduce.client.progressmonitor.pollinterval, and mapreduce.client.output.filter, whose
// only effective value is NONE.
func (d *Driver) newProgressReporter() *progressReporter {
	return &progressReporter{
		console: d.console, interval: d.conf.Duration(conf.PollInterval),
		quiet: strings.EqualFold(d.conf.String(conf.OutputFilter), "NONE"),
	}
}

// report takes one status. The last status of a job is always shown.
func (r *progressReporter) report(s *wire.JobStatus) {
	over := s.State.Final()
	for _, f := range report.NewFailures(s, r.failures) {
		if !r.quiet {
			r.console.TaskFailed(f.Attempt, f.Cause)
		}
	}
	r.failures = len(s.Failures)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.latest = console.ProgressOf(s)
	wait := r.interval - time.Since(r.mu.shownAt)
	switch {
	case over || wait <= 0:
		r.showLocked()
	case r.mu.timer == nil:
		r.mu.timer = time.AfterFunc(wait, r.show)
	}
}

// show is called by the timer.
func (r *progressReporter) show() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.mu.stopped {
		r.showLocked()
	}
}

// showLocked shows the latest status and ends the timer, if one runs.
func (r *progressReporter) showLocked() {
	if r.mu.timer != nil {
		r.mu.timer.Stop()
		r.mu.timer = nil
	}
	r.mu.shownAt = time.Now()
	r.console.Progress(r.mu.latest)
}

// stop ends the reporter: nothing is shown after it.
func (r *progressReporter) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.stopped = true
	if r.mu.timer != nil {
		r.mu.timer.Stop()
	}
}

// conclude shows how the job ended and keeps it for the report.
func (d *Driver) conclude(ctx context.Context, spec *wire.JobSpec, s *wire.JobStatus) error {
	doc := report.FromStatus(s, spec.Properties)
	doc.Counters.FillZeros(counter.Shape{Reduces: spec.Reduces > 0})
	d.report.last = &doc
	d.console.Ended(s, doc.Counters)
	if s.State == wire.JobState_SUCCEEDED {
		return nil
	}
	err := error(&JobError{JobID: s.JobId, State: s.State.String(), Cause: s.Cause})
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return err
}

// reporter keeps the report of the last job for --report.
type reporter struct {
	path string // "": no report
	last *report.Report
}

// write writes the report of the last job that ended or from which the program detached. It
// has no effect if there is no such job.
func (r *reporter) write() error {
	if r.path == "" || r.last == nil {
		return nil
	}
	return report.WriteFile(r.path, *r.last)
}
