package tasknode

import (
	"errors"
	"sync"

	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// Suspender is a Task whose processes can be suspended. Tasks that are no Suspender write a
// checkpoint instead.
type Suspender interface {
	// Suspend suspends all processes of the task. They keep their memory.
	Suspend() error
	// Resume resumes them. It has no effect on running processes.
	Resume() error
}

// suspendState is the state of an order to suspend an attempt.
//
//	RUNNING ── order ──► ORDERED ── SuspendReady ──► SUSPENDED
//	   ▲                    │                            │
//	   └── resume or kill ──┴────────────────────────────┘
//
// In ORDERED the task closes its remote files, or writes a checkpoint and ends. If its
// processes cannot be suspended, it is asked for a checkpoint.
//
// The lock is needed because three goroutines use the state. Orders come from the loop,
// SuspendReady comes from the reader of the connection, and the attempt's own goroutine
// resumes the task before its end. The lock is held while processes are suspended or resumed,
// so that these steps keep their order. Orders have numbers: SuspendReady for a cancelled
// order must not suspend the task for a later order.
type suspendState struct {
	mu        sync.Mutex // guards the fields below
	task      Suspender  // nil before the launch, and if the task cannot be suspended
	orders    int64      // number of the last order
	answered  int64      // number of the last order for which the task was ready; later answers to it are ignored
	ordered   bool
	suspended bool
}

// setTask sets the task that orders suspend and resume.
func (s *suspendState) setTask(task Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task, _ = task.(Suspender)
}

// suspend asks the task to prepare for suspension.
func (a *attempt) suspend() {
	s := &a.suspension
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ordered {
		return
	}
	s.ordered = true
	s.orders++
	a.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Suspend{Suspend: &taskproc.Suspend{Number: s.orders}}})
}

// isSuspended reports whether the task is suspended.
func (a *attempt) isSuspended() bool {
	s := &a.suspension
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.suspended
}

// suspendIfOrdered suspends a task that is ready, unless the task was resumed in the
// meantime.
func (a *attempt) suspendIfOrdered(order int64) {
	s := &a.suspension
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ordered || order != s.orders || order == s.answered {
		return
	}
	s.answered = order
	err := errCannotSuspend
	if s.task != nil {
		err = s.task.Suspend()
	}
	if s.suspended = err == nil; s.suspended {
		a.profile.abort(profile.Refusal("it was suspended before the profile was complete"))
		return
	}
	a.cfg.Logger.Info("cannot suspend task, asking for a checkpoint", "attempt", a.start.AttemptId, "reason", err)
	a.inbox.Put(resumeMessage)
	a.inbox.Put(preemptMessage(taskproc.Preempt_CHECKPOINT))
}

var (
	errCannotSuspend = errors.New("it runs inside the tasknode's process")

	resumeMessage = &taskproc.ToTask{Message: &taskproc.ToTask_Resume{Resume: new(taskproc.Resume)}}
)

// resume resumes the task, and cancels an order to suspend it. A kill calls it too, because
// a suspended process could not obey the kill.
func (a *attempt) resume() {
	s := &a.suspension
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ordered {
		return
	}
	s.ordered = false
	if s.suspended {
		s.suspended = false
		if err := s.task.Resume(); err != nil {
			a.cfg.Logger.Error("cannot resume task", "attempt", a.start.AttemptId, "error", err)
		}
	}
	a.inbox.Put(resumeMessage)
}
