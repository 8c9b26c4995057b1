package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// masters are who decides. One of them leads, for as long as most of them are there;
// the state is in the log of all.
type masters struct {
	away   []int // of each, how many troubles keep it from the others; 0 when it is there
	leader int   // its number; -1 while nobody leads
	since  int64 // when it began to lead
	leads  []int64

	waiting []func()        // for somebody to lead
	writing []cluster.Entry // what the leader has proposed and is writing to a slow log
}

// majority reports whether most masters are there.
func (m *masters) majority() bool {
	there := 0
	for _, away := range m.away {
		if away == 0 {
			there++
		}
	}
	return 2*there > len(m.away)
}

// led reports whether somebody decides.
func (b *body) led() bool { return b.masters.leader >= 0 }

// term tells one lead from the next.
func (b *body) term() int { return len(b.masters.leads) }

// takeMaster has a master be gone. Nobody leads when it was the leader, or when most
// are gone.
func (b *body) takeMaster(i int) {
	m := &b.masters
	m.away[i]++
	if b.led() && (m.leader == i || !m.majority()) {
		m.leader, b.wake = -1, 0
		b.events = slices.DeleteFunc(b.events, func(ev control.Event) bool { return !fromClient(ev) })
		b.askAgain(m.writing)
		m.writing = nil
	}
	b.elect()
}

// askAgain has clients repeat what they have asked for and never got an answer to.
func (b *body) askAgain(batch []cluster.Entry) {
	for _, e := range batch {
		if _, submits := e.Command.(cluster.SubmitJob); submits {
			b.request(e.Command)
		}
	}
}

// fromClient reports whether an event is the word of somebody who repeats it until a
// master has answered. Tasknodes tell everything anew when they attach.
func fromClient(ev control.Event) bool {
	r, requested := ev.(control.Requested)
	_, submits := r.Command.(cluster.SubmitJob)
	return requested && submits
}

// returnMaster has a master be there again.
func (b *body) returnMaster(i int) {
	b.masters.away[i]--
	b.elect()
}

// elect has a master lead some time later, if most are there then.
func (b *body) elect() {
	if b.led() || !b.masters.majority() {
		return
	}
	b.queue.plan(b.now+b.cfg.Election, func() {
		if !b.led() && b.masters.majority() {
			b.lead(slices.Index(b.masters.away, 0))
		}
	})
}

// lead has a master lead whose controller knows nothing but the state. Tasknodes attach
// to it; those that do not in time are given up.
func (b *body) lead(i int) {
	m := &b.masters
	m.leader, m.since = i, b.now
	m.leads = append(m.leads, b.time())
	b.brain = control.New(b.view, b.cfg.Policy)
	b.brain.Rely(b)
	b.brain.Trace(b.cfg.Decisions != nil)
	b.events = append([]control.Event{control.Leading{}}, slices.DeleteFunc(b.events, func(ev control.Event) bool { return !fromClient(ev) })...)
	for _, node := range b.machines {
		if node.quiet == 0 {
			b.attach(node)
		} else {
			b.giveUpLater(node)
		}
	}
	for _, do := range m.waiting {
		do()
	}
	m.waiting = nil
}

// write puts a batch into the log. It is not there when the leader is lost while it
// writes it; one whose disk is slow goes on meanwhile.
func (b *body) write(batch []cluster.Entry) error {
	var delay int64
	if b.cfg.Visited != nil {
		delay = b.visitAppend(len(batch))
	}
	switch {
	case !b.led():
		b.askAgain(batch)
	case delay == 0:
		return b.apply(batch)
	default:
		term := b.term()
		b.masters.writing = batch
		b.queue.plan(b.now+delay, func() {
			if b.led() && b.term() == term {
				b.masters.writing = nil
				b.fault = b.apply(batch)
			}
		})
	}
	return nil
}

// visitAppend has all masters come to their logs, and returns how long the leader
// takes.
func (b *body) visitAppend(entries int) (delay int64) {
	for i, away := range b.masters.away {
		if away > 0 {
			continue
		}
		effect := b.visit(Visit{Place: AtAppend, Master: i, Entries: entries})
		if i == b.masters.leader {
			delay = effect.Delay
		}
	}
	return delay
}

// commit gives the parts of a job's output their final names, one by one. Who begins to
// lead meanwhile does it again, as far as it is left to do.
func (b *body) commit(j *job) {
	if b.cfg.Commit == 0 && b.cfg.Visited == nil {
		b.request(cluster.CommitJob{Job: j.id})
		return
	}
	if j.commits == b.term() {
		return
	}
	j.commits = b.term()
	b.commitStep(j, AtCommitBegin, 0)
}

// commitStep does what comes next in a commit: it begins, names a part, or ends.
func (b *body) commitStep(j *job, place Place, part int) {
	term := b.term()
	effect := b.visit(Visit{Place: place, Master: b.masters.leader})
	next := func(after int64, do func()) {
		b.queue.plan(b.now+after, func() {
			if b.led() && b.term() == term {
				do()
			}
		})
	}
	parts := len(j.in.Reduces)
	if parts == 0 {
		parts = len(j.in.Maps)
	}
	switch {
	case !b.led():
	case effect.Fail != "":
		b.request(cluster.FailJob{Job: j.id, Cause: effect.Fail})
	case place == AtCommitEnd:
		next(effect.Delay, func() { b.request(cluster.CommitJob{Job: j.id}) })
	case place == AtCommitBegin:
		next(effect.Delay, func() { b.commitStep(j, AtCommitFile, 0) })
	default:
		next(effect.Delay+b.cfg.Commit, func() {
			j.named = max(j.named, part+1)
			if part+1 < parts {
				b.commitStep(j, AtCommitFile, part+1)
				return
			}
			b.commitStep(j, AtCommitEnd, 0)
		})
	}
}
