package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// A pause is declined when no place comes at which the attempt could stop, and
// when its checkpoint cannot be written. The attempt then goes on as if nobody had
// asked, and says so; where it was asked because it could not stand still, it
// tries that again first.

// unwrittenError says that a checkpoint is not on the disk. The attempt holds all that
// it was to have.
type unwrittenError struct{ err error }

func (e *unwrittenError) Error() string { return fmt.Sprintf("checkpoint not written: %v", e.err) }
func (e *unwrittenError) Unwrap() error { return e.err }

// checkpointOverhead is what a checkpoint takes beside what is in memory, in bytes: more than
// enough.
const checkpointOverhead = 64 << 10

// checkDiskSpace tries whether a checkpoint could be written, where it would be too late for
// that once the streams have ended.
func (g *groupRun) checkDiskSpace() error {
	if !g.inGang() || !g.laidOut.Load() {
		return nil
	}
	w, err := g.Attempt.Local.Create(g.Attempt.ctx, g.Attempt.LocalFile("checkpoint-room"), storage.CreateOptions{})
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

// declinePreemption tells that the attempt goes on, or that it stands still after all.
func (a *Attempt) declinePreemption(cause string, mayStand bool) {
	if number := a.gate.tryDeferred(); number > 0 {
		a.sendSuspendReady(number)
		return
	}
	a.Logger().Warn("no checkpoint", "reason", cause)
	declined := &taskproc.PreemptionDeclined{Cause: valid(cause), CanSuspend: mayStand}
	_ = a.send(&taskproc.FromTask{Message: &taskproc.FromTask_PreemptionDeclined{PreemptionDeclined: declined}}) // else the tasknode is gone
}

// resumeInPlace prepares the Nodes that have stopped to run on from what a checkpoint would
// have held.
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

func (n *NodeRun) resumeInPlace() (err error) {
	merge := n.resumed.GetMerge() // whose files a reduce still reads
	n.resumed = n.result.state
	n.result, n.liveRuns = result{}, nil
	n.live.reset()
	n.collectors = make(map[int]*openCollector)
	n.shared = nil
	switch r := n.pausedReduce(); {
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
