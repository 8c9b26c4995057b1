package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// Failpoint is a place that attempts and masters reach, where a fault may be injected.
type Failpoint int

// The failpoints.
const (
	AtLaunch      Failpoint = iota // an attempt is about to begin
	AtCheckpoint                   // an attempt is about to write a checkpoint
	AtEnd                          // an attempt has done its work and is about to publish it
	AtAppend                       // a master is about to write entries to its log
	AtCommitBegin                  // the leader is about to rename the parts of an output
	AtCommitFile                   // the leader is about to rename one part
	AtCommitEnd                    // all parts are renamed
)

// FailpointHit is an attempt or a master that reaches a failpoint.
type FailpointHit struct {
	Failpoint Failpoint
	Machine   int               // number of the machine, for attempts
	Attempt   cluster.AttemptID // for attempts
	Master    int               // number of the master, for masters
	Entries   int               // number of entries, at AtAppend
}

// Effect is what happens at a failpoint. The zero value has no effect.
type Effect struct {
	Delay int64  // additional ms
	Fail  string // cause of a failure, "" for none; a failing checkpoint is not written
}

// hitFailpoint asks OnFailpoint for the effect.
func (b *body) hitFailpoint(v FailpointHit) Effect {
	if b.cfg.OnFailpoint == nil {
		return Effect{}
	}
	return b.cfg.OnFailpoint(&Simulation{b}, v)
}

// reach runs then when an attempt has passed a failpoint. It does not run then if the
// attempt fails there or its machine is lost. A checkpoint that cannot be written is no
// failure of the attempt: it declines the preemption and proceeds.
func (b *body) reach(a *attempt, place Failpoint, then func()) {
	effect := b.hitFailpoint(FailpointHit{Failpoint: place, Machine: a.machine.number, Attempt: a.id})
	switch {
	case a.ended:
	case effect.Fail != "" && place == AtCheckpoint:
		a.preempting = false
		b.proceed(a)
		b.report(a.machine, control.PreemptionDeclined{Attempt: a.id, Cause: effect.Fail, CanSuspend: true})
	case effect.Fail != "":
		b.failAttempt(a, effect.Fail)
	case effect.Delay > 0:
		if !a.stalled {
			b.stall(a)
		}
		b.planNext(a, b.now+effect.Delay, then)
	default:
		then()
	}
}

// failAttempt ends an attempt as failed by itself.
func (b *body) failAttempt(a *attempt, cause string) {
	b.endAttempt(a, control.AttemptFailed{Attempt: a.id, Failure: cluster.Failure{Cause: cause, Offset: -1}})
}

// stoppedProcess records how a process continues after a fault has stopped it. A stopped
// process keeps its slot and its connections, but does nothing: orders reach it when it
// continues.
type stoppedProcess struct {
	depth     int             // number of faults that stop it; 0 while it runs
	remaining int64           // ms until next
	next      func()          // action when it continues, nil for none
	orders    []control.Order // orders that wait for it
}

// stopProcess stops the process of an attempt. Several faults may do so. Its planned actions
// are kept with their remaining times.
func (b *body) stopProcess(a *attempt) {
	a.stopped.depth++
	switch {
	case a.stopped.depth > 1:
	case !a.stalled:
		b.stall(a)
		a.stopped.remaining, a.stopped.next = 0, func() { b.proceed(a) }
	case a.nextPlanned == a.planned && a.nextAt > b.now:
		a.stopped.remaining, a.stopped.next = a.nextAt-b.now, a.next
		a.planned++
	default:
		a.stopped.next = nil
	}
}

// continueProcess ends one fault that stops a process. After the last such fault, the
// process continues and carries out the orders that wait.
func (b *body) continueProcess(a *attempt) {
	if a.stopped.depth--; a.stopped.depth > 0 || a.ended {
		return
	}
	stopped := a.stopped
	a.stopped = stoppedProcess{}
	if stopped.next != nil {
		b.planNext(a, b.now+stopped.remaining, stopped.next)
	}
	for _, o := range stopped.orders {
		b.deliver(o)
	}
}
