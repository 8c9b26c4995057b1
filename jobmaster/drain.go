package jobmaster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// The functions below move outputs and checkpoints off tasknodes that are being drained,
// so that they can be stopped without losing work:
//
//	DrainTasknode ──► DrainMachine in the log: the machine gets no new tasks
//	    controller ──► OrderCopyOutput to another machine, for each needed output and checkpoint
//	    that tasknode copies, retains and reports OutputCopied
//	    controller ──► MoveOutput or MoveCheckpoint in the log
//	                   outputsMoved: readers get the new address
//	nothing needed is left ──► DECOMMISSIONED: the tasknode may be stopped

// neededData returns the attempts whose outputs would be missed if a machine were stopped, and
// the tasks whose checkpoints would be missed. The checkpoint of a task that has resumed
// elsewhere is not needed. In a gang it is needed, because the whole gang may resume from it
// again. fetching are tasks that still fetch their checkpoint from the machine.
// bytes are those of the outputs and the checkpoints on the machine.
func (m *Master) neededData(machine *cluster.Machine, fetching []cluster.TaskID) (outputs []cluster.AttemptID, checkpoints []cluster.TaskID, bytes int64) {
	needed, left := m.view.NeededOn(machine)
	for _, t := range needed {
		outputs = append(outputs, t.Winner.ID)
		bytes += t.Output.Bytes
	}
	for _, c := range left {
		_, stage, _, _ := m.view.Task(c.ID)
		if stage.Bundle.Gang || !slices.ContainsFunc(c.Attempts, func(a *cluster.Attempt) bool { return a.Machine != machine.Name && m.hasResumed(a) }) {
			checkpoints = append(checkpoints, c.ID)
			bytes += c.CheckpointOf(c.Writer).Bytes
		}
	}
	checkpoints = append(checkpoints, fetching...)
	slices.SortFunc(checkpoints, cluster.TaskID.Compare)
	return outputs, slices.Compact(checkpoints), bytes
}

// fetchedCheckpoints returns, by machine, the tasks that still fetch their checkpoint from
// the machine, although the checkpoint was moved to another machine in the meantime.
func (m *Master) fetchedCheckpoints() map[string][]cluster.TaskID {
	tasks := make(map[string][]cluster.TaskID)
	for machine := range m.view.Machines() {
		for _, a := range machine.Attempts {
			if !a.CheckpointMoved || !a.Active() || m.hasResumed(a) {
				continue
			}
			_, _, t, _ := m.view.Task(a.ID.Task)
			if from := t.Attempt(a.From - 1).Machine; from != machine.Name {
				tasks[from] = append(tasks[from], t.ID)
			}
		}
	}
	return tasks
}

// hasResumed reports whether an attempt runs and has reported that all files from which it
// resumes are on its own machine.
func (m *Master) hasResumed(a *cluster.Attempt) bool {
	phase := m.record(a.ID.Task.Job).progress[a.ID].GetPhase() // "" if the attempt has not reported
	return a.Active() && phase != "" && phase != taskproc.PhaseResume
}

// sendCopyOutput orders a tasknode to copy the output of a finished attempt or the
// checkpoint of a preempted attempt.
func (m *Master) sendCopyOutput(o control.Order) {
	j, t, a, known := m.view.Attempt(o.Attempt)
	if !known {
		return
	}
	order := &wire.Order_CopyOutput{AttemptId: a.ID.String(), JobId: j.ID.String(), Token: m.cfg.ShuffleToken(j.ID.String())}
	if c := t.CheckpointOf(a.ID); c != nil {
		order.Checkpoint = checkpointMessage(t.ID, c, o.Machine, m.addressOf(c.Machine))
	} else if t.Winner == a {
		order.Finished = m.lastReport(j, t)
	} else {
		return
	}
	m.deliver(o.Machine, &wire.Order{Order: &wire.Order_CopyOutput_{CopyOutput: order}})
}

// lastReport rebuilds the last report of a finished attempt from the state, with the
// addresses of its outputs.
func (m *Master) lastReport(j *cluster.Job, t *cluster.Task) *taskproc.Finished {
	done := &taskproc.Finished{OutputBytes: t.Output.Bytes, OutputRecords: t.Output.Records, Range: taskproc.FromRange(t.Range)}
	for _, s := range t.Output.Segments {
		o := m.mapOutput(j, t, s)
		o.Emitted, o.Cuts = s.Emitted, s.Cuts
		done.Outputs = append(done.Outputs, o)
	}
	for _, p := range t.Output.Pieces {
		done.Pieces = append(done.Pieces, &taskproc.Piece{
			Output: p.Output, Path: p.Path, Length: p.Length, Checksum: p.Checksum, Records: p.Records, Suffix: p.Suffix,
			Stage: int32(p.Stage), Part: int32(p.Part),
		})
	}
	for _, c := range j.CountersOf(t) {
		done.Counters = append(done.Counters, &taskproc.Counter{Group: c.Group, Name: c.Name, Value: c.Value})
	}
	return done
}

// outputCopied passes the result of CopyOutput to the controller. After an error the
// controller orders the copy again, perhaps on another machine. After BadCheckpoint it does
// not, because the source is damaged.
func (m *Master) outputCopied(machine string, id cluster.AttemptID, copied *wire.Report_OutputCopied) {
	if copied.Error != "" {
		m.cfg.Logger.Warn("cannot copy the output of an attempt off a draining machine", "attempt", id, "to", machine, "error", copied.Error)
	}
	ev := control.OutputCopied{
		Attempt: id, Machine: machine, Problem: copied.Error, Useless: copied.BadCheckpoint,
		Segments: manifestOf(&taskproc.Finished{Outputs: copied.Outputs}).Segments,
	}
	if copied.Checkpoint != nil {
		c := checkpointOf(copied.Checkpoint)
		ev.Checkpoint = &c
	}
	m.events = append(m.events, ev)
}

// outputsMoved sends the new addresses of the outputs of attempts to their readers.
//
// Readers see a move as a loss of the output, followed by an output of the same attempt at
// another address.
func (m *Master) outputsMoved(ids []cluster.AttemptID) {
	m.outputsRevoked(ids)
	for _, id := range ids {
		m.contain(id.Task.Job, func() { m.outputPublished(id) })
	}
}

// machineNamed returns the machine of a tasknode. If the state has no such machine, the
// error wraps cluster.ErrUnknown.
func (m *Master) machineNamed(name string) (*cluster.Machine, error) {
	if machine := m.view.Machine(name); machine != nil {
		return machine, nil
	}
	return nil, fmt.Errorf("%w: tasknode %q", cluster.ErrUnknown, name)
}

// AdmitTasknode excludes a tasknode from new tasks, or admits it again. If the tasknode is
// unknown, the error wraps cluster.ErrUnknown.
func (m *Master) AdmitTasknode(ctx context.Context, name string, excluded bool) error {
	return m.change(ctx, func() (change, error) {
		machine, err := m.machineNamed(name)
		if err != nil {
			return change{}, err
		}
		return change{
			cluster.AdmitMachine{Name: name, Excluded: excluded},
			func() bool { return machine.Excluded == excluded },
		}, nil
	})
}

// DrainTasknode excludes a tasknode from new tasks and moves its outputs and checkpoints to
// other machines. If untilRestart is set, the next start of the tasknode ends that. within is the
// time after which a user expects it to be over, 0 for none: it is only shown. If the tasknode is unknown, the error wraps cluster.ErrUnknown. It refuses
// the last tasknode that accepts tasks.
func (m *Master) DrainTasknode(ctx context.Context, name string, untilRestart bool, within time.Duration) error {
	return m.change(ctx, func() (change, error) {
		machine, err := m.machineNamed(name)
		if err != nil {
			return change{}, err
		}
		deadline := machine.DrainDeadline
		if within > 0 {
			deadline = m.now() + within.Milliseconds()
		}
		// A draining until the restart becomes one without an end, but not the reverse.
		drained := func() bool {
			return machine.Draining && !machine.Lost && (untilRestart || !machine.UntilRestart) && machine.DrainDeadline == deadline
		}
		if drained() {
			return change{}, nil
		}
		return change{cluster.DrainMachine{Name: name, Cause: "tasknode " + name + " is drained", UntilRestart: untilRestart, Deadline: deadline}, drained}, nil
	})
}
