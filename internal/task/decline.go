package task

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
)

// A pause is declined when no place comes at which the attempt could stop, and
// when its checkpoint cannot be written. The attempt then goes on as if nobody had
// asked, and says so; where it was asked because it could not stand still, it
// tries that again first.

// unwrittenError says that a checkpoint is not on the disk. Its body is whole as
// far as the attempt does not hold it anyway.
type unwrittenError struct {
	body *taskproc.CheckpointBody
	err  error
}

func (e *unwrittenError) Error() string { return fmt.Sprintf("checkpoint not written: %v", e.err) }
func (e *unwrittenError) Unwrap() error { return e.err }

// pause asks the attempt to write a checkpoint and end. It is called by listen.
func (s *session) pause() {
	a := s.attempt
	if !a.signal.raisePause() || a.Conf == nil {
		return
	}
	timeout := a.Conf.Duration(conf.BoundaryTimeout)
	if timeout == 0 {
		return
	}
	s.boundary.Stop()
	s.boundary = time.AfterFunc(timeout, func() {
		if a.signal.withdraw() {
			a.declinePause(fmt.Sprintf("no place to stop at within %v (%s)", timeout, conf.BoundaryTimeout), a.still.idle())
		}
	})
}

// declinePause tells that the attempt goes on, or that it stands still after all.
func (a *Attempt) declinePause(cause string, mayStand bool) {
	if number := a.still.standNow(); number > 0 {
		a.standsStill(number)
		return
	}
	a.Logger().Warn("no checkpoint", "reason", cause)
	declined := &taskproc.Declined{Cause: valid(cause), MayStand: mayStand}
	_ = a.send(&taskproc.FromTask{Message: &taskproc.FromTask_Declined{Declined: declined}}) // else the tasknode is gone
}

// goOn prepares the Node to run on from what a checkpoint would have held.
func (n *Node) goOn(unwritten *unwrittenError) (err error) {
	if n.ctx.Err() != nil {
		return context.Cause(n.ctx)
	}
	merge := n.resumed.GetMerge() // whose files a reduce still reads
	n.again++
	n.resumed, n.UserState = unwritten.body, unwritten.body.UserState
	if n.source != nil {
		n.collectors = make(map[int]*openCollector)
		n.source, err = newMap(n, n.source.split)
	} else {
		n.declined, n.resumed.Merge = n.pausedReduce(), merge
		n.reduces = nil
	}
	n.signal.decline()
	n.declinePause(unwritten.Error(), false)
	n.enterPhase(n.firstPhase())
	return err
}
