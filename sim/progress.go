package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/sched"
)

// Progress implements sched.SoftState: the last report of an attempt that the controller
// has. Reports are not events: the last report is computed on request. So a run with
// thousands of attempts needs no events for reports. A test compares the result with a model
// whose reports are events.
func (b *body) Progress(id cluster.AttemptID) (p sched.Progress, ok bool) {
	if a := b.attempts[id]; a != nil {
		return b.progressOf(a)
	}
	return p, false
}

// progressOf returns the last report of an attempt that has arrived.
func (b *body) progressOf(a *attempt) (p sched.Progress, ok bool) {
	p = a.reported
	if at := b.lastReport(a); at > p.ReportedAt && at >= a.since {
		p.ReportedAt, p.Fraction = at, a.fractionAt(at)
		if p.ReducingSince == 0 && p.Fraction > sched.ReducePhaseStart && a.isReduce() {
			p.ReducingSince = b.firstReport(a, max(a.inputReadyAt, a.since), at)
		}
	}
	return p, p.Fraction > 0
}

// Fetched implements control.FetchReporter. It returns a set for a reduce that has reported
// all its input, in memory or in its checkpoint. Before that the model does not know which
// outputs were copied.
func (b *body) Fetched(reader cluster.AttemptID) control.FetchedSet {
	if a := b.attempts[reader]; a != nil && a.isReduce() && b.hasReportedAllInput(a) {
		return allOutputs{}
	}
	return nil
}

// hasReportedAllInput reports whether the master knows that a reduce has all its input.
func (b *body) hasReportedAllInput(a *attempt) bool {
	if a.ended {
		return a.job.checkpoints[a.id.Task].fetched
	}
	at := b.lastReport(a)
	return a.reported.Fraction > sched.ReducePhaseStart || at >= max(a.since, 1) && a.fetchedAt(at)
}

// allOutputs is the FetchedSet of a reduce with all its input.
type allOutputs struct{}

// Has implements control.FetchedSet.
func (allOutputs) Has(*cluster.Task) bool { return true }

// fractionAt returns the progress of an attempt at a time not before since. For a reduce,
// copying and merging are two thirds.
func (a *attempt) fractionAt(at int64) float64 {
	own := float64(a.taskWorkDoneAt(at)) / float64(max(a.taskWork, 1))
	switch {
	case !a.isReduce():
		return own
	case a.fetchedAt(at):
		return sched.ReducePhaseStart + own/3
	}
	return sched.ReducePhaseStart * float64(a.copiedAt(at)) / float64(max(a.bytes, 1))
}

// lastReport returns the time of the last report that has arrived; 0 for none.
//
// Reports leave at reportsFrom + n·ProgressInterval, wait for the machine's next moment of
// reports, and arrive Latency later. Probes are answered at once.
func (b *body) lastReport(a *attempt) (at int64) {
	arrived := b.now - b.cfg.Latency
	if a.ended {
		return 0
	}
	if every := b.cfg.ProgressInterval; every > 0 && !a.stalled {
		for n := (arrived - a.reportsFrom) / every; n > 0 && at == 0; n-- {
			if r := b.nextReport(a.machine, a.reportsFrom+n*every); r <= arrived {
				at = r
			}
		}
	}
	for _, probe := range b.probes {
		if probe <= arrived {
			at = max(at, probe)
		}
	}
	return at
}

// firstReport returns the time of the first report of a running attempt after a time. It is
// last if no earlier one is found.
func (b *body) firstReport(a *attempt, after, last int64) int64 {
	if every := b.cfg.ProgressInterval; every > 0 && !a.stalled {
		for n := max((after-b.cfg.ReportInterval-a.reportsFrom)/every, 1); a.reportsFrom+n*every <= last; n++ {
			if r := b.nextReport(a.machine, a.reportsFrom+n*every); r > after {
				last = min(last, r)
				break
			}
		}
	}
	for _, probe := range b.probes {
		if probe > after {
			last = min(last, probe)
		}
	}
	return last
}

// probe asks all attempts for their progress when a machine expires, since it decides which
// of them are preempted.
func (b *body) probe() { b.probes = append(b.probes, b.now+b.cfg.Latency) }
