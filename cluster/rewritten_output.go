package cluster

import (
	"fmt"
	"slices"
)

// A task whose output is revoked runs again, and some of its readers may have the first output
// already. The records of a deterministic program are the same. Those of a program that is not
// may go to other partitions the second time, so readers of the first output and readers of the
// second would together miss records, or have them twice:
//
//	               partition 0    partition 1
//	attempt 0      a c            b
//	attempt 1      a              b c            a reader of each: c is there twice
//
// So the sums of the two outputs are compared (shuffle.Sums). If the records differ, all tasks
// that may have read the first output start over. Their own outputs are compared in the same
// way when they finish again. Failing the job instead would punish programs whose output is
// right as long as it is that of one run, such as samples. The case occurs only when an output
// is lost while the job runs, so it need not be fast.

// otherRecords reports whether two outputs of a task are known to have different records.
func otherRecords(earlier, now []Segments) bool {
	return slices.ContainsFunc(earlier, func(e Segments) bool {
		i := slices.IndexFunc(now, func(s Segments) bool { return s.Edge == e.Edge && s.Node == e.Node })
		if i < 0 || e.Emitted == 0 || now[i].Emitted == 0 {
			return false
		}
		cutAlike := e.Cuts != 0 && e.Cuts == now[i].Cuts
		return e.Emitted != now[i].Emitted || cutAlike && e.IndexChecksum != now[i].IndexChecksum
	})
}

// compareOutput compares the output of a finished task with the output that was revoked. If the
// records differ, the readers start over.
func (tx *transition) compareOutput(p taskRef) {
	earlier := p.task.Earlier
	p.task.Earlier = nil
	if !otherRecords(earlier, p.task.Output.Segments) || p.job.State != JobRunning {
		return
	}
	cause := fmt.Sprintf("it read the output of %v, and attempt %d emitted other records", p.task.ID, p.attempt.ID.Number)
	if n := tx.restartReaders(p, cause); n > 0 {
		tx.recordFailure(p, Failure{Offset: -1, Cause: fmt.Sprintf("this attempt emitted other records than an earlier one, whose output is lost, so %d tasks that had begun to read it start over: "+
			"the program is not deterministic. Emit the same records in the same order each time: sort the keys of a Go map, take random seeds from the split, and use no clock", n)})
	}
}

// restartReaders makes each task that may have read the earlier output of a task start over, and
// returns their number. It is not known what an attempt has read, so each that has begun counts.
func (tx *transition) restartReaders(p taskRef, cause string) (n int) {
	for _, to := range p.job.Stages {
		for _, up := range to.upstream {
			if up.stage != p.stage {
				continue
			}
			first, end := p.job.readersOf(p.task, up.edge, to)
			for _, reader := range to.Tasks[first:min(end, len(to.Tasks))] {
				if reader.mayHaveRead() {
					tx.startOver(taskRef{job: p.job, stage: to, task: reader}, cause)
					n++
				}
			}
		}
	}
	return n
}

// mayHaveRead reports whether an attempt whose work counts, or may count again, has begun to read.
func (t *Task) mayHaveRead() bool {
	return t.Winner != nil || t.State == TaskRunning || t.rollbackCheckpoint() != nil || slices.ContainsFunc(t.Attempts, (*Attempt).Lost)
}

// startOver makes a task and its gang start over without their checkpoints. Attempts that run
// are ordered to exit, and outputs are revoked. Outputs on lost machines are not restored.
func (tx *transition) startOver(p taskRef, cause string) {
	tx.rollingBack = true // the attempts that it ends cause no rollback
	defer func() { tx.rollingBack = false }()
	gang := append(p.otherTasks(), p)
	tx.restartGang(gang, false, false, cause)
	for _, o := range gang {
		for _, o.attempt = range o.task.Attempts {
			if o.attempt.Lost() {
				tx.step(o, eventDiscard)
			}
		}
	}
}

// earlierOutput returns what is kept of an output that is revoked: its sums.
func earlierOutput(m *Manifest) (earlier []Segments) {
	for _, s := range m.Segments {
		if s.Emitted != 0 {
			s.Path = ""
			earlier = append(earlier, s)
		}
	}
	return earlier
}
