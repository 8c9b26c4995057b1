package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// AttemptState is the state of an attempt. It determines the Status of the attempt, and
// where its process is: in its slot, in memory without a slot, or gone. A slot is free only
// when the process is gone or stopped, so no slot is given out twice.
//
// The diagram shows all transitions; commands refuse any other event.
//
//	Running ──preempt──► Preempting ──decline──► Running
//	Running ──suspend──► Suspended ──resume──► Running
//
//	Running, Preempting, Suspended ──finish──► Succeeded
//	Running, Preempting, Suspended ──checkpoint──► Checkpointed
//	Running, Preempting, Suspended ──fail──► Failed
//	Running, Preempting, Suspended ──exit──► Killed
//	Running, Preempting, Suspended ──lose machine──► Lost
//
//	Running, Preempting ──time out──► FailedExiting ──exit, lose machine──► Failed
//	Running, Preempting ──kill──► KilledExiting ──exit, lose machine──► Killed
//	Running, Preempting ──preempt by kill──► PreemptedExiting ──exit, lose machine──► WorkLost
//	Suspended ──time out──► FailedSuspended ──exit, lose machine──► Failed
//	Suspended ──kill──► KilledSuspended ──exit, lose machine──► Killed
//	Suspended ──preempt by kill──► PreemptedSuspended ──exit, lose machine──► WorkLost
//
//	Succeeded ──lose output──► OutputLost ──find output──► Succeeded
//	Succeeded ──revoke──► Revoked
//	OutputLost ──revoke──► RevokedLost ──restore──► Succeeded
//	Lost ──restore──► Succeeded
//	RevokedLost ──discard──► Revoked
//	Lost ──discard──► Killed
//
// Snapshots contain the numbers.
type AttemptState int

const (
	// AttemptRunning is entered by StartAttempt, StartBundle, SpeculateTask,
	// ResumeAttempt and DeclinePreemption. The attempt occupies its slot.
	AttemptRunning AttemptState = iota + 1
	// AttemptPreempting is entered by PreemptAttempt: the attempt occupies its slot and
	// is ordered to publish what it has read or to write a checkpoint, and to exit.
	AttemptPreempting
	// AttemptSuspended is entered by PreemptAttempt: the process is stopped, and
	// another attempt may have its slot.
	AttemptSuspended

	// AttemptFailedExiting is entered by FailAttempt when the attempt timed out: its
	// machine is ordered to kill the process, which occupies its slot until it is gone.
	AttemptFailedExiting
	// AttemptKilledExiting is like AttemptFailedExiting, for an attempt that is killed.
	AttemptKilledExiting
	// AttemptPreemptedExiting is like AttemptFailedExiting, for an attempt that is preempted
	// by kill.
	AttemptPreemptedExiting
	// AttemptFailedSuspended is AttemptFailedExiting for a process that was suspended
	// and so occupies no slot.
	AttemptFailedSuspended
	// AttemptKilledSuspended is like AttemptFailedSuspended, for an attempt that is killed.
	AttemptKilledSuspended
	// AttemptPreemptedSuspended is like AttemptFailedSuspended, for an attempt that is
	// preempted by kill.
	AttemptPreemptedSuspended

	// AttemptSucceeded is entered by FinishAttempt and RestoreOutput: the attempt is
	// the winner of its task.
	AttemptSucceeded
	// AttemptOutputLost is entered when the winner's output is lost with its machine
	// and no task needs it.
	AttemptOutputLost
	// AttemptFailed is final.
	AttemptFailed
	// AttemptKilled is final.
	AttemptKilled
	// AttemptLost is entered when a machine is lost on which the attempt ran. The
	// machine may come back with its output.
	AttemptLost
	// AttemptRevoked is final: the attempt had succeeded, and its output, which tasks
	// may have read, does not count any more.
	AttemptRevoked
	// AttemptRevokedLost is like AttemptRevoked, but the output is lost with its machine.
	// The machine may come back with the output.
	AttemptRevokedLost
	// AttemptCheckpointed is final: the attempt was preempted, or its machine drained,
	// and its task resumes from its checkpoint.
	AttemptCheckpointed
	// AttemptWorkLost is final: the attempt was preempted by kill.
	AttemptWorkLost
)

// AttemptStatus is the form of an AttemptState that users see. Messages contain its numbers.
type AttemptStatus int

const (
	StatusRunning AttemptStatus = iota + 1
	StatusSucceeded
	StatusFailed
	StatusKilled
	StatusPreempted
)

func (s AttemptStatus) String() string {
	names := [...]string{"NEW", "RUNNING", "SUCCEEDED", "FAILED", "KILLED", "PREEMPTED"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("AttemptStatus(%d)", int(s))
	}
	return names[s]
}

// processPlace is where the process of an attempt is.
type processPlace int

const (
	gone     processPlace = iota // it has exited, or its machine is lost
	inSlot                       // it occupies its slot
	inMemory                     // it is stopped, and occupies memory only
)

// attemptStateInfo has the properties of all attempts in a state.
type attemptStateInfo struct {
	status   AttemptStatus // what users see
	place    processPlace  // place of its process
	lost     bool          // the attempt or its output is lost with its machine
	revoked  bool          // it had succeeded, and its output does not count any more
	workLost bool          // it was preempted by kill
}

var attemptStates = [...]struct {
	name string
	attemptStateInfo
}{
	AttemptRunning:            {"Running", attemptStateInfo{status: StatusRunning, place: inSlot}},
	AttemptPreempting:         {"Preempting", attemptStateInfo{status: StatusRunning, place: inSlot}},
	AttemptSuspended:          {"Suspended", attemptStateInfo{status: StatusRunning, place: inMemory}},
	AttemptFailedExiting:      {"FailedExiting", attemptStateInfo{status: StatusFailed, place: inSlot}},
	AttemptKilledExiting:      {"KilledExiting", attemptStateInfo{status: StatusKilled, place: inSlot}},
	AttemptPreemptedExiting:   {"PreemptedExiting", attemptStateInfo{status: StatusPreempted, place: inSlot, workLost: true}},
	AttemptFailedSuspended:    {"FailedSuspended", attemptStateInfo{status: StatusFailed, place: inMemory}},
	AttemptKilledSuspended:    {"KilledSuspended", attemptStateInfo{status: StatusKilled, place: inMemory}},
	AttemptPreemptedSuspended: {"PreemptedSuspended", attemptStateInfo{status: StatusPreempted, place: inMemory, workLost: true}},
	AttemptSucceeded:          {"Succeeded", attemptStateInfo{status: StatusSucceeded}},
	AttemptOutputLost:         {"OutputLost", attemptStateInfo{status: StatusSucceeded, lost: true}},
	AttemptFailed:             {"Failed", attemptStateInfo{status: StatusFailed}},
	AttemptKilled:             {"Killed", attemptStateInfo{status: StatusKilled}},
	AttemptLost:               {"Lost", attemptStateInfo{status: StatusKilled, lost: true}},
	AttemptRevoked:            {"Revoked", attemptStateInfo{status: StatusKilled, revoked: true}},
	AttemptRevokedLost:        {"RevokedLost", attemptStateInfo{status: StatusKilled, lost: true, revoked: true}},
	AttemptCheckpointed:       {"Checkpointed", attemptStateInfo{status: StatusPreempted}},
	AttemptWorkLost:           {"WorkLost", attemptStateInfo{status: StatusPreempted, workLost: true}},
}

func (s AttemptState) String() string {
	if s < 1 || int(s) >= len(attemptStates) {
		return fmt.Sprintf("AttemptState(%d)", int(s))
	}
	return attemptStates[s].name
}

func (s AttemptState) info() attemptStateInfo { return attemptStates[s].attemptStateInfo }

// attemptEvent is something that happens to an attempt.
type attemptEvent int

const (
	eventPreempt       attemptEvent = iota // it is ordered to split or to checkpoint
	eventDecline                           // it cannot obey such an order, and continues
	eventSuspend                           // it gives up its slot and keeps its memory
	eventResume                            // it has its slot again
	eventFinish                            // it has finished, and its process is gone
	eventCheckpoint                        // it has written a checkpoint, and its process is gone
	eventFail                              // it has failed, and its process is gone
	eventTimeOut                           // it has failed, and its process is to be killed
	eventKill                              // it is ordered to exit
	eventPreemptByKill                     // it is ordered to exit, and its work is lost
	eventExit                              // its process is gone
	eventLoseMachine                       // its machine is lost
	eventLoseOutput                        // its output is lost with its machine
	eventFindOutput                        // the output is there again, or a copy of it
	eventRevoke                            // its output does not count any more
	eventRestore                           // its machine is back with its output, which counts again
	eventDiscard                           // its output must not be restored
)

var attemptEventNames = [...]string{
	"preempt", "decline", "suspend", "resume", "finish", "checkpoint", "fail", "time out", "kill", "preempt by kill",
	"exit", "lose machine", "lose output", "find output", "revoke", "restore", "discard",
}

func (e attemptEvent) String() string { return attemptEventNames[e] }

// attemptTransitions is the state that follows a state and an event. An event without an
// entry must not happen in that state.
var attemptTransitions = [...]map[attemptEvent]AttemptState{
	AttemptRunning: {
		eventPreempt: AttemptPreempting, eventSuspend: AttemptSuspended,
		eventFinish: AttemptSucceeded, eventCheckpoint: AttemptCheckpointed, eventFail: AttemptFailed, eventExit: AttemptKilled, eventLoseMachine: AttemptLost,
		eventTimeOut: AttemptFailedExiting, eventKill: AttemptKilledExiting, eventPreemptByKill: AttemptPreemptedExiting,
	},
	AttemptPreempting: {
		eventDecline: AttemptRunning,
		eventFinish:  AttemptSucceeded, eventCheckpoint: AttemptCheckpointed, eventFail: AttemptFailed, eventExit: AttemptKilled, eventLoseMachine: AttemptLost,
		eventTimeOut: AttemptFailedExiting, eventKill: AttemptKilledExiting, eventPreemptByKill: AttemptPreemptedExiting,
	},
	AttemptSuspended: {
		eventResume: AttemptRunning,
		eventFinish: AttemptSucceeded, eventCheckpoint: AttemptCheckpointed, eventFail: AttemptFailed, eventExit: AttemptKilled, eventLoseMachine: AttemptLost,
		eventTimeOut: AttemptFailedSuspended, eventKill: AttemptKilledSuspended, eventPreemptByKill: AttemptPreemptedSuspended,
	},
	AttemptFailedExiting:      {eventExit: AttemptFailed, eventLoseMachine: AttemptFailed},
	AttemptKilledExiting:      {eventExit: AttemptKilled, eventLoseMachine: AttemptKilled},
	AttemptPreemptedExiting:   {eventExit: AttemptWorkLost, eventLoseMachine: AttemptWorkLost},
	AttemptFailedSuspended:    {eventExit: AttemptFailed, eventLoseMachine: AttemptFailed},
	AttemptKilledSuspended:    {eventExit: AttemptKilled, eventLoseMachine: AttemptKilled},
	AttemptPreemptedSuspended: {eventExit: AttemptWorkLost, eventLoseMachine: AttemptWorkLost},
	AttemptSucceeded:          {eventLoseOutput: AttemptOutputLost, eventRevoke: AttemptRevoked},
	AttemptOutputLost:         {eventFindOutput: AttemptSucceeded, eventRevoke: AttemptRevokedLost},
	AttemptLost:               {eventRestore: AttemptSucceeded, eventDiscard: AttemptKilled},
	AttemptRevokedLost:        {eventRestore: AttemptSucceeded, eventDiscard: AttemptRevoked},
	AttemptWorkLost:           nil,
}

// after returns the state that follows an event. Callers check beforehand that the event may
// happen, so after panics on any other event.
func (s AttemptState) after(event attemptEvent) AttemptState {
	next, ok := attemptTransitions[s][event]
	if !ok {
		panic(fmt.Sprintf("cluster: attempt in state %v: unexpected event: %v", s, event))
	}
	return next
}

// Attempt is one try at a task.
type Attempt struct {
	ID      AttemptID    `cbor:"-"`
	Number  int          `cbor:"1,keyasint,omitempty"` // of ID
	Machine string       `cbor:"2,keyasint"`
	From    int          `cbor:"3,keyasint,omitempty"` // number, counted from 1, of the attempt from whose checkpoint it resumed; 0: it started from the beginning
	Slot    Slot         `cbor:"-"`
	State   AttemptState `cbor:"4,keyasint"`
	Range   dag.Range    `cbor:"5,keyasint,omitzero"`  // range that it was started with; its task's range may have shrunk since
	MovedTo string       `cbor:"6,keyasint,omitempty"` // machine to which its output or checkpoint was moved; "" while it lies on Machine

	// CheckpointMoved says that the checkpoint from which it resumed was moved since.
	CheckpointMoved bool `cbor:"7,keyasint,omitempty"`

	StartedAt int64  `cbor:"8,keyasint,omitempty"`  // ms since the epoch, as are all times
	EndedAt   int64  `cbor:"9,keyasint,omitempty"`  // when its status changed from RUNNING, 0 while it has not
	Cause     string `cbor:"10,keyasint,omitempty"` // why it was killed or failed, or what its slot is needed for

	PreemptRequestedAt int64        `cbor:"11,keyasint,omitempty"` // when it was ordered last to split or to checkpoint; 0 if never
	PreemptMode        preempt.Mode `cbor:"12,keyasint,omitempty"` // Split or Checkpoint, as last ordered; "" if never
	DeclinedAt         int64        `cbor:"13,keyasint,omitempty"` // when it last declined such an order; 0 if never

	SuspendedAt     int64 `cbor:"14,keyasint,omitempty"` // when it was suspended last; 0 if never
	SuspendedMillis int64 `cbor:"15,keyasint,omitempty"` // total time until it resumed last, see SuspendedUntilEnd

	ResumedAt int64 `cbor:"16,keyasint,omitempty"` // when it resumed last: after a suspension, or from another attempt's work; 0 if never
}

// Status returns the form of the attempt's state that users see.
func (a *Attempt) Status() AttemptStatus { return a.State.info().status }

// Active reports whether the attempt may still finish: it runs, is being preempted, or
// is suspended. Its status is RUNNING.
func (a *Attempt) Active() bool { return a.Status() == StatusRunning }

// Preempting reports whether the attempt is under orders to split or to checkpoint.
func (a *Attempt) Preempting() bool { return a.State == AttemptPreempting }

// Splitting reports whether the attempt is ordered to finish with what it has read.
func (a *Attempt) Splitting() bool { return a.Preempting() && a.PreemptMode == preempt.Split }

// PreemptRequested reports whether the attempt is ordered to split or to checkpoint, or
// was when it ended.
func (a *Attempt) PreemptRequested() bool {
	return a.Preempting() || !a.Active() && a.PreemptRequestedAt > a.DeclinedAt
}

// Suspended reports whether the attempt is active and occupies memory instead of its slot.
func (a *Attempt) Suspended() bool { return a.State == AttemptSuspended }

// OnMachine reports whether the attempt's process may still be on its machine.
func (a *Attempt) OnMachine() bool { return a.State.info().place != gone }

// OccupiesSlot reports whether the attempt keeps others from its slot.
func (a *Attempt) OccupiesSlot() bool { return a.State.info().place == inSlot }

// InMemory reports whether the attempt's process is stopped on its machine.
func (a *Attempt) InMemory() bool { return a.State.info().place == inMemory }

// Lost reports whether the attempt, or its output, was lost with its machine.
func (a *Attempt) Lost() bool { return a.State.info().lost }

// Revoked reports whether the attempt had succeeded and its output does not count any
// more. Others may have read it.
func (a *Attempt) Revoked() bool { return a.State.info().revoked }

// WorkKept reports whether the attempt is preempted and its work is kept.
func (a *Attempt) WorkKept() bool { return a.State == AttemptCheckpointed }

// WorkLost reports whether the attempt is preempted and its work is lost.
func (a *Attempt) WorkLost() bool { return a.State.info().workLost }

// DataMachine returns the machine on which the attempt's output or checkpoint lies, if it
// has any.
func (a *Attempt) DataMachine() string { return cmp.Or(a.MovedTo, a.Machine) }

// SlotTime returns how long the attempt has occupied its slot until the given time, in ms.
// The process must be there at that time. The result is never below 0, even if the clocks of
// masters differ.
func (a *Attempt) SlotTime(at int64) int64 {
	if a.InMemory() {
		at = a.SuspendedAt
	}
	return max(at-a.StartedAt-a.SuspendedMillis, 0)
}

// SuspendedUntilEnd returns for how long the attempt was suspended, in ms: while it is suspended,
// without the time since SuspendedAt. If it ended while it was suspended, it did not resume.
func (a *Attempt) SuspendedUntilEnd() int64 {
	if a.EndedAt > 0 && a.SuspendedAt > a.ResumedAt {
		return a.SuspendedMillis + max(a.EndedAt-a.SuspendedAt, 0)
	}
	return a.SuspendedMillis
}

// step moves an attempt on by an event. It updates everything that follows from the state:
// the slots in use, the stage's counts and lists, and the delta.
func (tx *transition) step(p taskRef, event attemptEvent) {
	a := p.attempt
	tx.touched = p.job
	slotTime := a.SlotTime(tx.at)
	before, from := a.State, a.State.info()
	a.State = before.after(event)
	to := a.State.info()
	if before == AttemptSuspended {
		p.stage.forgetSuspended(a)
	}
	if a.State == AttemptSuspended {
		p.stage.noteSuspended(a)
	}
	if from.place != to.place {
		tx.changePlace(p, from.place, to.place, slotTime)
	}
	if from.status != to.status {
		p.stage.countStatus(from.status, -1)
		p.stage.countStatus(to.status, 1)
		if event != eventRevoke {
			if !from.revoked { // else it has its end: that of its work, not of its restoration
				a.EndedAt = tx.at
			}
			tx.delta.Ended = append(tx.delta.Ended, a.ID)
		}
	}
}

// changePlace releases a slot or takes one, even if no slot is free. It removes an attempt
// whose process is gone from its machine.
func (tx *transition) changePlace(p taskRef, from, to processPlace, slotTime int64) {
	a, m := p.attempt, tx.byName[p.attempt.Machine]
	if to == gone {
		p.job.Occupied--
		p.stage.SlotMillis += slotTime
		m.Attempts = slices.DeleteFunc(m.Attempts, func(b *Attempt) bool { return a == b })
		tx.delta.Freed = append(tx.delta.Freed, a.ID)
	}
	switch {
	case from == inSlot:
		m.take(p.stage, -1)
	case to == inSlot:
		m.take(p.stage, 1)
	default:
		return
	}
	tx.indexFree(m)
}

// countStatus adds n to the count of attempts of a status, if there is one.
func (s *Stage) countStatus(status AttemptStatus, n int) {
	switch status {
	case StatusFailed:
		s.Failed += n
	case StatusKilled:
		s.Killed += n
	}
}
