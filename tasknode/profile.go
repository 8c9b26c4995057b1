package tasknode

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// profileGrace is how long a task may take to answer with a profile, in addition to the time that the
// profile covers. A task that works on all processors answers late.
const profileGrace = 10 * time.Second

// profileOrder is the order of a profile that the task of an attempt has not answered. An attempt has
// at most one.
type profileOrder struct {
	mu struct {
		sync.Mutex
		number uint64             // of the order, which is random: a tasknode that was restarted must not take the answer to an order of the one before; 0: there is no order
		answer chan profileAnswer // for one answer
	}
}

type profileAnswer struct {
	data []byte
	err  error
}

// begin begins an order. It returns number 0 if there is one already.
func (o *profileOrder) begin() (number uint64, answer <-chan profileAnswer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.number != 0 {
		return 0, nil
	}
	o.mu.number, o.mu.answer = 1+rand.Uint64N(1<<63), make(chan profileAnswer, 1)
	return o.mu.number, o.mu.answer
}

// end ends the order.
func (o *profileOrder) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.number = 0
}

// answered passes on the answer of the task. Late answers to earlier orders are dropped.
func (o *profileOrder) answered(r *taskproc.ProfileResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.Number != o.mu.number || o.mu.number == 0 {
		return
	}
	a := profileAnswer{data: r.Data}
	if r.Refusal != "" {
		a.err = profile.Refusal(r.Refusal)
	}
	o.putLocked(a)
}

// abort ends the order with an error, if there is one.
func (o *profileOrder) abort(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.number != 0 {
		o.putLocked(profileAnswer{err: err})
	}
}

func (o *profileOrder) putLocked(a profileAnswer) {
	select {
	case o.mu.answer <- a:
	default: // there is an answer already
	}
}

// Profile takes a profile of the process of an attempt. It waits for the task, which continues its work.
// The error is a profile.Refusal if there is no such attempt, or it cannot answer. Any goroutine may
// call Profile while Run runs; ctx must end then.
func (d *Daemon) Profile(ctx context.Context, id string, q profile.Query) ([]byte, error) {
	found := make(chan *attempt, 1)
	d.inbox.Put(func() { found <- d.attempts[id] })
	select {
	case a := <-found:
		if a == nil {
			return nil, profile.Refusal(fmt.Sprintf("attempt %.100s does not run on tasknode %s", id, d.cfg.Name))
		}
		data, err := a.takeProfile(ctx, q)
		if err != nil {
			err = fmt.Errorf("profile of attempt %s: %w", id, err)
		}
		return data, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// takeProfile orders the profile and waits for it.
func (a *attempt) takeProfile(ctx context.Context, q profile.Query) ([]byte, error) {
	conn := a.conn.Load()
	if conn == nil || conn.speaks.Load() == 0 {
		return nil, profile.Refusal("its process is starting; try again in a moment")
	}
	if conn.speaks.Load() < taskproc.ProfileVersion {
		return nil, profile.Refusal("its program is of an older release, which takes no profiles; build it again with the release of hammr that the cluster runs")
	}
	number, answer := a.profile.begin()
	if number == 0 {
		return nil, profile.Refusal("another one is being taken; try again when it has ended")
	}
	defer a.profile.end()
	if a.isSuspended() { // later, suspendIfOrdered aborts the order
		return nil, profile.Refusal("it is suspended, so its process cannot answer; resume it first")
	}
	order := &taskproc.Profile{Number: number, Kind: q.Kind, Seconds: int32(q.Seconds)}
	a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Profile{Profile: order}})
	late := time.NewTimer(q.Time() + profileGrace)
	defer late.Stop()
	select {
	case result := <-answer:
		return result.data, result.err
	case <-conn.ended:
	case <-late.C:
		return nil, profile.Refusal(fmt.Sprintf("its process has not answered within %v; it may have no processor", q.Time()+profileGrace))
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case result := <-answer: // the last thing that it has sent
		return result.data, result.err
	default:
		return nil, profile.Refusal("it ended before the profile was complete")
	}
}
