package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/sched"
)

// Progress implements sched.SoftState: what the controller has heard of an attempt. No
// report is an event of its own: what an attempt has said is found when somebody
// asks.
func (b *body) Progress(id cluster.AttemptID) (p sched.Progress, ok bool) {
	if a := b.attempts[id]; a != nil {
		return b.progressOf(a)
	}
	return p, false
}

// progressOf is the last that has been heard of an attempt.
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

// Fetched implements control.FetchReporter: it is known of a reduce that it has all its
// input, in memory or in its checkpoint. Which outputs it has before that nobody
// knows: what it copies is taken to keep pace with the maps.
func (b *body) Fetched(reader cluster.AttemptID) control.FetchedSet {
	if a := b.attempts[reader]; a != nil && a.isReduce() && b.hasReportedAllInput(a) {
		return allOutputs{}
	}
	return nil
}

// hasReportedAllInput reports whether it has been heard of a reduce that it has all its input.
func (b *body) hasReportedAllInput(a *attempt) bool {
	if a.ended {
		return a.job.checkpoints[a.id.Task].fetched
	}
	at := b.lastReport(a)
	return a.reported.Fraction > sched.ReducePhaseStart || at >= max(a.since, 1) && a.fetchedAt(at)
}

// allOutputs is all input of a reduce.
type allOutputs struct{}

// Has implements control.FetchedSet.
func (allOutputs) Has(*cluster.Task) bool { return true }

// fractionAt is how far an attempt is at a time from since on: of a reduce two
// thirds are copying and merging.
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

// lastReport is when an attempt has said last how far it is, of what has arrived;
// 0 when it has not.
func (b *body) lastReport(a *attempt) (at int64) {
	heard := b.now - b.cfg.Latency
	if a.ended {
		return 0
	}
	if every := b.cfg.ProgressInterval; every > 0 && !a.stalled {
		for n := (heard - a.reportsFrom) / every; n > 0 && at == 0; n-- {
			if r := b.nextHeartbeat(a.machine, a.reportsFrom+n*every); r <= heard {
				at = r
			}
		}
	}
	for _, probe := range b.probes {
		if probe <= heard {
			at = max(at, probe)
		}
	}
	return at
}

// firstReport is when an attempt that goes on said first how far it is behind a
// time; last is when it did so at any rate.
func (b *body) firstReport(a *attempt, behind, last int64) int64 {
	if every := b.cfg.ProgressInterval; every > 0 && !a.stalled {
		for n := max((behind-b.cfg.Heartbeat-a.reportsFrom)/every, 1); a.reportsFrom+n*every <= last; n++ {
			if r := b.nextHeartbeat(a.machine, a.reportsFrom+n*every); r > behind {
				last = min(last, r)
				break
			}
		}
	}
	for _, probe := range b.probes {
		if probe > behind {
			last = min(last, probe)
		}
	}
	return last
}

// probe asks all attempts how far they are, since a machine was given up: whom to
// take slots from depends on it.
func (b *body) probe() { b.probes = append(b.probes, b.now+b.cfg.Latency) }
