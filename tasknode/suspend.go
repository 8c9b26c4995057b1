package tasknode

import (
	"errors"
	"sync"

	"github.com/hammr/hammr/internal/taskproc"
)

// Suspender is a Task that can be made to stand still. Others write a checkpoint
// instead.
type Suspender interface {
	// Suspend has all processes of the task stand still. It keeps their memory.
	Suspend() error
	// Resume has them go on; it does nothing to those that do.
	Resume() error
}

// suspendState is whether an attempt is to stand still, and does.
//
//	goes ── order ──► asked ── the task is ready ──► frozen
//	 ▲                  │                              │
//	 └──── resume, kill ┴──────────────────────────────┘
type suspendState struct {
	mu        sync.Mutex
	task      Suspender // nil before the launch, and for a task that cannot
	orders    int64     // to stand still, so far
	ordered   bool
	suspended bool
}

// setTask says what can be made to stand still.
func (s *suspendState) setTask(task Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task, _ = task.(Suspender)
}

// suspend asks the task to be ready to stand still.
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

// suspendIfOrdered freezes a task that may stand still, unless it is to go on meanwhile. One
// that cannot be frozen writes a checkpoint.
func (a *attempt) suspendIfOrdered(order int64) {
	s := &a.suspension
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ordered || order != s.orders {
		return
	}
	err := errCannotSuspend
	if s.task != nil {
		err = s.task.Suspend()
	}
	if s.suspended = err == nil; s.suspended {
		return
	}
	a.cfg.Logger.Info("a task that was to be suspended writes a checkpoint", "attempt", a.start.AttemptId, "reason", err)
	a.inbox.Put(resumeMessage)
	a.inbox.Put(preemptMessage(taskproc.Preempt_CHECKPOINT))
}

var (
	errCannotSuspend = errors.New("it runs inside the tasknode's process")

	resumeMessage = &taskproc.ToTask{Message: &taskproc.ToTask_Resume{Resume: new(taskproc.Resume)}}
)

// resume has the task go on, whatever it was told before.
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
			a.cfg.Logger.Error("a task cannot be resumed", "attempt", a.start.AttemptId, "error", err)
		}
	}
	a.inbox.Put(resumeMessage)
}
