package sched

import "github.com/hammr/hammr/cluster"

// Delay scheduling lets a free slot go by, and counts for how long a job has done
// so since a task of it was started last. A slot's own wait does not tell: where
// slots come free all the time and are gone to other jobs at once, none is ever
// free for long, and a task without a slot beside its input would wait for ever.

// skippedSince is since when tasks of an offer have let slots go by, 0 for not yet.
func (p *Placer) skippedSince(o offer) int64 { return p.skipped[stageKey{o.job.ID, o.stage.Code}] }

// noteSkip notes that a slot goes by.
func (p *Placer) noteSkip(o offer, now int64) {
	if p.skippedSince(o) != 0 {
		return
	}
	if p.skipped == nil {
		p.skipped = make(map[stageKey]int64)
	}
	p.skipped[stageKey{o.job.ID, o.stage.Code}] = now
}

// resetDelayClock begins a stage's wait anew.
func (p *Placer) resetDelayClock(id cluster.AttemptID) {
	delete(p.skipped, stageKey{id.Task.Job, id.Task.Stage})
}
