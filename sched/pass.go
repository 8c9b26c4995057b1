package sched

import "github.com/hammr/hammr/cluster"

// Delay scheduling lets a free slot go by, and counts for how long a job has done
// so since a task of it was started last. A slot's own wait does not tell: where
// slots come free all the time and are gone to other jobs at once, none is ever
// free for long, and a task without a slot beside its input would wait for ever.

// passedSince is since when tasks of an offer have let slots go by, 0 for not yet.
func (p *Placer) passedSince(o offer) int64 { return p.passed[output{o.job.ID, o.stage.Code}] }

// passOver notes that a slot goes by.
func (p *Placer) passOver(o offer, now int64) {
	if p.passedSince(o) != 0 {
		return
	}
	if p.passed == nil {
		p.passed = make(map[output]int64)
	}
	p.passed[output{o.job.ID, o.stage.Code}] = now
}

// launched begins a stage's wait anew.
func (p *Placer) launched(id cluster.AttemptID) {
	delete(p.passed, output{id.Task.Job, id.Task.Stage})
}
