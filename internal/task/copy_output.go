package task

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
)

// handleOutputs takes in new outputs of an edge, or starts to copy them.
func (p *copyPhase) handleOutputs(e *copyEdge, update *taskproc.Outputs) error {
	p.revoke(e, update.Revoked)
	for _, o := range update.Outputs {
		if p.r.fetched[e.Edge].has(o.Task) || !e.reads(o.Task) {
			continue
		}
		if p.r.canCheckpoint() && p.r.Node.Attempt.signals.acceptCheckpoint() {
			return nil // the attempt that resumes gets the rest
		}
		if err := p.handleOutput(e, o); err != nil {
			return err
		}
	}
	e.complete = update.Complete
	return nil
}

// revoke cancels copies of lost outputs. Outputs that are taken in stay. For the others
// the reduce waits until the task has run again.
func (p *copyPhase) revoke(e *copyEdge, attempts []string) {
	if len(attempts) == 0 {
		return
	}
	revoked := setOf(attempts)
	for _, w := range p.byNumber {
		for i, o := range w.outputs {
			if w.edge != e || o.revoked || !revoked[o.Attempt] {
				continue
			}
			p.copier.Drop(w.number, o.Attempt)
			if w.outputs[i].revoked = true; w.status == writerCopying {
				w.enter(writerLost)
			}
		}
	}
}

// handleOutput takes in or copies one output. An output that is offered again, from the same
// address, changes nothing. From another address it is a copy that was made off a draining
// machine.
func (p *copyPhase) handleOutput(e *copyEdge, o *taskproc.MapOutput) error {
	w := p.writers[writerOf(o)]
	switch {
	case w != nil && w.has(o):
	case w != nil && w.status != writerIdle: // from an attempt that was lost; the copier chooses between the two
		p.copy(e, o)
	case !o.Stored && (o.Address == "" || o.Address == p.r.Node.Attempt.Start.ShuffleAddress):
		runs, err := p.r.takeLocal(e, o)
		if errors.Is(err, fs.ErrPermission) {
			p.copy(e, o) // the tasknode has copied it off a drained machine as root, and serves it
			return nil
		}
		if err != nil {
			p.r.Node.Attempt.Counters.Add(counter.FailedShuffles, 1)
			return &LostOutputError{Attempt: o.Attempt, Err: err}
		}
		p.taken(o, runs)
	case o.HasNone(e.partition):
		p.taken(o, nil)
	default:
		p.copy(e, o)
	}
	return nil
}

// takeLocal gives the runs of an output on this machine to the intake.
func (r *Reduce) takeLocal(e *copyEdge, o *taskproc.MapOutput) ([]shuffle.Run, error) {
	index, err := r.Node.Attempt.readIndex(o)
	if err != nil {
		return nil, err
	}
	if e.partition >= len(index.Partitions) {
		return nil, fmt.Errorf("index of %s: no partition %d, it has %d", o.Path, e.partition, len(index.Partitions))
	}
	r.localWriters[o.Path] = o.Attempt
	for _, source := range index.Sources(r.Node.Attempt.Local, e.partition, r.ordinalOf(o)) {
		if err := r.intake.AddLocal(source); err != nil {
			return nil, err
		}
	}
	return index.Partitions[e.partition], nil
}

// taken records that the runs of an output are in the intake.
func (p *copyPhase) taken(o *taskproc.MapOutput, runs []shuffle.Run) {
	r := p.r
	var bytes int64
	for _, run := range runs {
		bytes += run.Length
		r.total += run.Records
	}
	p.edges[int(o.Edge)].have++
	r.fetched[int(o.Edge)] = r.fetched[int(o.Edge)].with(o.Task)
	if r.main {
		r.Node.group.fetched.add(r, o)
	} else {
		r.writers = append(r.writers, o.Attempt)
	}
	r.Node.Attempt.Counters.Add(counter.ShuffledMaps, 1)
	r.Node.Attempt.Counters.Add(counter.ReduceShuffleBytes, bytes)
	r.Node.Attempt.KeepAlive()
}

// copy gives an output to the copier, under a number by which the copier recognizes newer
// outputs of its writer.
func (p *copyPhase) copy(e *copyEdge, o *taskproc.MapOutput) {
	if p.copier == nil {
		p.openCopier()
	}
	w := p.writers[writerOf(o)]
	if w == nil {
		w = &writerState{edge: e, number: int32(len(p.byNumber))}
		e.writers[writerIdle]++
		p.writers[writerOf(o)], p.byNumber = w, append(p.byNumber, w)
	}
	w.enter(writerCopying)
	w.give(o)
	p.copier.Add(transfer.Segment{Task: w.number, Partition: e.partition, Ordinal: p.r.ordinalOf(o), Output: p.output(o)})
}

// output describes an output to the copier.
func (p *copyPhase) output(o *taskproc.MapOutput) transfer.Output {
	out := transfer.Output{
		Address: cmp.Or(o.Address, p.r.Node.Attempt.Start.ShuffleAddress), Job: p.r.Node.Attempt.Start.JobId, Attempt: o.Attempt,
		File: path.Base(o.Path), IndexChecksum: o.IndexChecksum,
	}
	if o.Stored {
		out.Stored = o.Path
	}
	return out
}

// copied returns the output of a copier's result.
func (p *copyPhase) copied(c transfer.Result) *taskproc.MapOutput {
	w := p.byNumber[c.Segment.Task]
	return w.outputs[w.find(c.Segment.Output.Attempt)].MapOutput
}
