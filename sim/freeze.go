package sim

import "github.com/hammr/hammr/control"

// ice is what a process that was stopped goes on with.
type ice struct {
	depth int             // by how many it is stopped; 0 when it runs
	rest  int64           // ms until then
	then  func()          // what is next, nil for nothing
	heard []control.Order // that wait for it
}

// freeze stops the process of an attempt.
func (b *body) freeze(a *attempt) {
	a.ice.depth++
	switch {
	case a.ice.depth > 1:
	case !a.stands:
		b.cease(a)
		a.ice.rest, a.ice.then = 0, func() { b.goOn(a) }
	case a.duePlan == a.plan && a.due > b.now:
		a.ice.rest, a.ice.then = a.due-b.now, a.next
		a.plan++
	default:
		a.ice.then = nil
	}
}

// thaw has it go on, and do what it was told meanwhile.
func (b *body) thaw(a *attempt) {
	if a.ice.depth--; a.ice.depth > 0 || a.over {
		return
	}
	was := a.ice
	a.ice = ice{}
	if was.then != nil {
		b.later(a, b.now+was.rest, was.then)
	}
	for _, o := range was.heard {
		b.obey(o)
	}
}
