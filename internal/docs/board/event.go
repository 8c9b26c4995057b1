package board

import (
	"fmt"

	"github.com/hammr/hammr/cluster"
)

// EventKind is what has happened to an attempt.
type EventKind uint8

const (
	EventStart      EventKind = iota + 1 // it was started from the beginning
	EventContinue                        // it was started from the checkpoint of another attempt
	EventSpeculate                       // it was started as a second attempt
	EventOrder                           // it was ordered to split or to write a checkpoint
	EventDecline                         // it could not obey such an order
	EventSplit                           // a part of its range became a new task
	EventSuspend                         // it was suspended
	EventResume                          // it has its slot again
	EventFinish                          // it has finished
	EventCheckpoint                      // it has written a checkpoint and exited
	EventFail                            // it has failed
	EventKill                            // it was killed, or exited by request
	EventPreempt                         // it was preempted by kill
	EventLose                            // it, or its output, was lost with its machine
	EventRevoke                          // its output does not count any more
	EventRestore                         // its output is there again
	EventExit                            // its process is gone, after it was ordered to exit
	EventMove                            // its output or checkpoint was moved to another machine
)

var eventNames = [...]string{
	"none", "start", "continue", "speculate", "order", "decline", "split", "suspend", "resume", "finish",
	"checkpoint", "fail", "kill", "preempt", "lose", "revoke", "restore", "exit", "move",
}

func (k EventKind) String() string {
	if int(k) >= len(eventNames) {
		return fmt.Sprintf("EventKind(%d)", int(k))
	}
	return eventNames[k]
}

// orders reports whether the attempt was ordered to give up its slot.
func (k EventKind) orders() bool { return k == EventOrder || k == EventSuspend || k == EventPreempt }

// event is an apidoc.Event as the board has it. Events also show how work moves between attempts:
// EventContinue names the attempt that wrote the checkpoint, EventSplit the new task.
type event struct {
	at      int64  // ms since the epoch
	bytes   int64  // of EventFinish: output; of EventCheckpoint and EventMove of one: checkpoint
	attempt uint32 // number of a row of the stage
	other   uint32 // of EventContinue: number of the attempt that wrote the checkpoint, counted from 1; of EventSplit: number of the new task; of EventMove: machine; of an order to give up the slot: attemptRow.order
	stage   uint16 // place in the stages of the job
	kind    EventKind
	mode    uint8 // see modes
}

// eventsPerAttempt bounds the events of a job, for each of its attempts. An attempt that ends by
// itself has two.
const eventsPerAttempt = 4

// add adds an event to the tape of a job. If the tape is full, the oldest events are dropped.
//
// The times in a tape never decrease, as readers expect. The clock of a new leader may be behind
// that of the old one.
func (u *update) add(j *job, e event) {
	if u.silent {
		return
	}
	e.at = u.at
	if n := j.tape.end(); n > j.tape.dropped {
		e.at = max(e.at, j.tape.at(n-1).at)
	}
	j.tape.add(e)
	j.frozen = nil
	if j.tape.size > eventsPerAttempt*j.attempts+chunkRows {
		j.tape.dropFirst()
	}
}

// events adds the events that have changed the row of an attempt. Most entries change the state
// of an attempt once; an order to move a suspended attempt changes it twice.
func (u *update) events(mine *job, s *stage, t *cluster.Task, a *cluster.Attempt, was *attemptRow, row int) {
	if u.silent {
		return
	}
	e := event{stage: uint16(s.index), attempt: uint32(row)}
	before := cluster.AttemptState(was.state)
	add := func(kind EventKind) {
		e.kind = kind
		u.add(mine, e)
		u.count(mine, s, t, a, before, e)
	}
	if before == 0 {
		e.other = uint32(a.From)
		add(startKind(t, a))
		e.other, before = 0, cluster.AttemptRunning
	}
	if before == cluster.AttemptSuspended && a.Active() && !a.Suspended() {
		add(EventResume)
	}
	if before != a.State {
		e.mode, e.bytes = modeNumber(a.PreemptMode), bytesOf(t, a)
		if kind := stateKind(before, a); kind != 0 {
			if kind.orders() {
				e.other = s.attempts.at(row).order
			}
			add(kind)
		}
	}
	if now := s.attempts.at(row).movedTo; was.state != 0 && was.movedTo != now {
		e.other, e.mode, e.bytes = u.intern(mine, a.DataMachine()), 0, bytesOf(t, a)
		add(EventMove)
	}
}

// startKind returns the kind of the start of an attempt.
func startKind(t *cluster.Task, a *cluster.Attempt) EventKind {
	switch {
	case a.From > 0:
		return EventContinue
	case len(t.Attempts) > 1 && t.Attempts[len(t.Attempts)-1] == a && t.Attempts[len(t.Attempts)-2].Active():
		return EventSpeculate
	}
	return EventStart
}

// stateKind returns what has brought an attempt from one state to its present state; 0 if it is
// known from another event.
func stateKind(before cluster.AttemptState, a *cluster.Attempt) EventKind {
	was := &cluster.Attempt{State: before}
	switch now := a.State; {
	case now == cluster.AttemptPreempting:
		return EventOrder
	case now == cluster.AttemptSuspended:
		return EventSuspend
	case now == cluster.AttemptRunning && before == cluster.AttemptPreempting:
		return EventDecline
	case now == cluster.AttemptSucceeded && was.Active():
		return EventFinish
	case now == cluster.AttemptSucceeded:
		return EventRestore
	case a.Revoked():
		return EventRevoke
	case a.Lost():
		return EventLose
	case was.Active() && !a.Active():
		return endKind(a)
	case was.OnMachine() && !a.OnMachine():
		return EventExit
	}
	return 0
}

// endKind returns how an attempt has ended that was active.
func endKind(a *cluster.Attempt) EventKind {
	switch {
	case a.WorkKept():
		return EventCheckpoint
	case a.WorkLost():
		return EventPreempt
	case a.Status() == cluster.StatusFailed:
		return EventFail
	}
	return EventKill
}

// bytesOf returns the bytes that an attempt has left: its output, or its checkpoint; 0 if it has
// left neither, or another attempt has replaced it.
func bytesOf(t *cluster.Task, a *cluster.Attempt) int64 {
	if t.Winner == a {
		return t.Output.Bytes
	}
	if c := t.CheckpointOf(a.ID); c != nil {
		return c.Bytes
	}
	return 0
}
