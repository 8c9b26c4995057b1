package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// Place is a place that attempts and masters come to, where something may go wrong.
type Place int

// The places.
const (
	AtLaunch      Place = iota // an attempt is about to begin
	AtCheckpoint               // it is about to write a checkpoint
	AtEnd                      // it has done its work, and is about to publish it
	AtAppend                   // a master is about to write entries to its log
	AtCommitBegin              // the leader is about to name the parts of an output
	AtCommitFile               // it is about to name one of them
	AtCommitEnd                // all have their names
)

// Visit is that somebody comes to a place.
type Visit struct {
	Place   Place
	Node    int               // machine, at the places of attempts
	Attempt cluster.AttemptID // likewise
	Master  int               // at the others
	Entries int               // at AtAppend, how many
}

// Effect is what happens at a place. The zero value is nothing.
type Effect struct {
	Delay int64  // ms that it takes longer
	Fail  string // why it fails, "" when it does not; a checkpoint that fails is not written
}

// visit asks what happens at a place.
func (b *body) visit(v Visit) Effect {
	if b.cfg.Visited == nil {
		return Effect{}
	}
	return b.cfg.Visited(&World{b}, v)
}

// come has an attempt come to a place and then go on with what it does, unless it
// fails there or its machine is lost.
func (b *body) come(a *attempt, place Place, then func()) {
	effect := b.visit(Visit{Place: place, Node: a.machine.number, Attempt: a.id})
	switch {
	case a.over:
	case effect.Fail != "" && place == AtCheckpoint:
		a.pausing = false
		b.goOn(a)
		b.report(a.machine, control.AttemptDeclined{Attempt: a.id, Cause: effect.Fail, MayStand: true})
	case effect.Fail != "":
		b.failAttempt(a, effect.Fail)
	case effect.Delay > 0:
		if !a.stands {
			b.cease(a)
		}
		b.later(a, b.now+effect.Delay, then)
	default:
		then()
	}
}

// failAttempt ends an attempt as its own failure.
func (b *body) failAttempt(a *attempt, cause string) {
	b.end(a, control.AttemptFailed{Attempt: a.id, Failure: cluster.Failure{Cause: cause, Offset: -1}})
}
