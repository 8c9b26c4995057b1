package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// A checkpoint is declined if no Node comes to a boundary in time, or if it cannot be
// written. The attempt then continues as without the order, and reports that. If
// the checkpoint was in place of a suspension, it tries the suspension again first.

// unwrittenError says that a checkpoint could not be written. The attempt still has in
// memory what the checkpoint was to have.
type unwrittenError struct{ err error }

func (e *unwrittenError) Error() string { return fmt.Sprintf("checkpoint not written: %v", e.err) }
func (e *unwrittenError) Unwrap() error { return e.err }

// checkpointOverhead is an upper bound, in bytes, of a checkpoint's size beyond what is
// in memory.
const checkpointOverhead = 64 << 10

// checkDiskSpace checks that the checkpoint of a gang's member will fit on the disk. Once
// the streams have ended, the attempt can no longer decline.
func (g *groupRun) checkDiskSpace() error {
	if !g.inGang() || !g.laidOut.Load() {
		return nil
	}
	w, err := g.Attempt.Local.Create(g.Attempt.ctx, g.Attempt.LocalFile("checkpoint-space"), storage.CreateOptions{})
	if err != nil {
		return err
	}
	need := int64(checkpointOverhead)
	for _, n := range g.nodes {
		need += n.unwritten()
	}
	for zeros := make([]byte, checkpointOverhead); need > 0 && err == nil; need -= checkpointOverhead {
		_, err = w.Write(zeros)
	}
	return errors.Join(err, w.Abort())
}

// declinePreemption reports that the attempt continues. If a Suspend was answered by
// the checkpoint that is declined, and is possible by now, it reports that instead.
func (a *Attempt) declinePreemption(cause string, canSuspend bool) {
	if number := a.gate.tryDeferred(); number > 0 {
		a.sendSuspendReady(number)
		return
	}
	a.Logger().Warn("preemption declined", "reason", cause)
	declined := &taskproc.PreemptionDeclined{Cause: valid(cause), CanSuspend: canSuspend}
	_ = a.send(&taskproc.FromTask{Message: &taskproc.FromTask_PreemptionDeclined{PreemptionDeclined: declined}}) // an error: the tasknode is gone
}

// resumeInPlace prepares the stopped Nodes to run again from the states that the
// checkpoint would have had.
func (g *groupRun) resumeInPlace(cause error) (err error) {
	if g.Attempt.ctx.Err() != nil {
		return context.Cause(g.Attempt.ctx)
	}
	g.Attempt.declines++
	for _, n := range g.nodes {
		if !n.finished {
			err = errors.Join(err, n.resumeInPlace())
		}
	}
	g.openShared()
	g.Attempt.signals.decline()
	g.Attempt.declinePreemption(cause.Error(), false)
	return err
}

// resumeInPlace makes the Node ready to run again, from the state that the checkpoint would
// have had. A reduce is adopted by the next one, with its intake and its place in the merge,
// because its segments in memory were not written.
func (n *NodeRun) resumeInPlace() (err error) {
	merge := n.resumed.GetMerge() // whose files a reduce still reads
	n.resumed = n.result.state
	n.result, n.liveRuns = result{}, nil
	n.live.reset()
	n.collectors = make(map[int]*openCollector)
	n.shared = nil
	switch r := n.checkpointedReduce(); {
	case n.source != nil:
		n.source, err = newMap(n, n.source.split)
	case r != nil:
		n.declined, n.resumed.Merge = r, merge
	}
	for _, r := range n.reduces {
		if r != n.declined {
			r.Close()
		}
	}
	n.reduces = nil
	n.closeStreams()
	n.enterPhase(n.firstPhase())
	return err
}

// NotResumable declares that no other attempt can continue this one. The attempt then
// ignores orders to split and to write a checkpoint. User code whose state is in no
// checkpoint calls it before it takes the first record.
func (n *NodeRun) NotResumable() {
	n.group.notCheckpointable.Store(true)
	n.group.notSplittable.Store(true)
}

// NotCheckpointable declares that state which the Node carries from one record to the next
// is lost with the attempt. The attempt, with all its Nodes, then ignores orders to write a
// checkpoint.
func (n *NodeRun) NotCheckpointable() { n.group.notCheckpointable.Store(true) }

// canCheckpoint reports whether the attempt can write a checkpoint.
func (g *groupRun) canCheckpoint() bool { return !g.notCheckpointable.Load() }

// canSplit reports whether the rest of the attempt's range can become another task: it is a
// map alone in its group that writes files. Streams and shared memory join it to Nodes that
// could not divide their work.
func (g *groupRun) canSplit() bool {
	return !g.notSplittable.Load() && g.single() && g.nodes[0].source != nil && len(fileChannels(g.nodes[0].outputs)) == len(g.nodes[0].outputs)
}
