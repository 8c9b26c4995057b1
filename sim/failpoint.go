package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// Failpoint is a place that attempts and masters come to, where something may go wrong.
type Failpoint int

// The places.
const (
	AtLaunch      Failpoint = iota // an attempt is about to begin
	AtCheckpoint                   // it is about to write a checkpoint
	AtEnd                          // it has done its work, and is about to publish it
	AtAppend                       // a master is about to write entries to its log
	AtCommitBegin                  // the leader is about to name the parts of an output
	AtCommitFile                   // it is about to name one of them
	AtCommitEnd                    // all have their names
)

// FailpointHit is that somebody comes to a place.
type FailpointHit struct {
	Failpoint Failpoint
	Machine   int               // machine, at the places of attempts
	Attempt   cluster.AttemptID // likewise
	Master    int               // at the others
	Entries   int               // at AtAppend, how many
}

// Effect is what happens at a place. The zero value is nothing.
type Effect struct {
	Delay int64  // ms that it takes longer
	Fail  string // why it fails, "" when it does not; a checkpoint that fails is not written
}

// hitFailpoint asks what happens at a place.
func (b *body) hitFailpoint(v FailpointHit) Effect {
	if b.cfg.OnFailpoint == nil {
		return Effect{}
	}
	return b.cfg.OnFailpoint(&Simulation{b}, v)
}

// reach has an attempt come to a place and then go on with what it does, unless it
// fails there or its machine is lost.
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

// failAttempt ends an attempt as its own failure.
func (b *body) failAttempt(a *attempt, cause string) {
	b.endAttempt(a, control.AttemptFailed{Attempt: a.id, Failure: cluster.Failure{Cause: cause, Offset: -1}})
}
