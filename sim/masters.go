package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// masters are who decides. One of them leads, for as long as most of them are there;
// the state is in the log of all.
type masters struct {
	isolated    []int // of each, how many troubles keep it from the others; 0 when it is there
	leader      int   // its number; -1 while nobody leads
	leaderSince int64 // when it began to lead
	elections   []int64

	onLeader []func()        // for somebody to lead
	writing  []cluster.Entry // what the leader has proposed and is writing to a slow log
}

// majority reports whether most masters are there.
func (m *masters) majority() bool {
	there := 0
	for _, away := range m.isolated {
		if away == 0 {
			there++
		}
	}
	return 2*there > len(m.isolated)
}

// hasLeader reports whether somebody decides.
func (b *body) hasLeader() bool { return b.masters.leader >= 0 }

// term tells one lead from the next.
func (b *body) term() int { return len(b.masters.elections) }

// isolateMaster has a master be gone. Nobody leads when it was the leader, or when most
// are gone.
func (b *body) isolateMaster(i int) {
	m := &b.masters
	m.isolated[i]++
	if b.hasLeader() && (m.leader == i || !m.majority()) {
		m.leader, b.wakeAt = -1, 0
		b.events = slices.DeleteFunc(b.events, func(ev control.Event) bool { return !isResubmitted(ev) })
		b.resubmit(m.writing)
		m.writing = nil
	}
	b.elect()
}

// resubmit has clients repeat what they have asked for and never got an answer to.
func (b *body) resubmit(batch []cluster.Entry) {
	for _, e := range batch {
		if _, submits := e.Command.(cluster.SubmitJob); submits {
			b.request(e.Command)
		}
	}
}

// isResubmitted reports whether an event is the word of somebody who repeats it until a
// master has answered. Tasknodes tell everything anew when they attach.
func isResubmitted(ev control.Event) bool {
	r, requested := ev.(control.Requested)
	_, submits := r.Command.(cluster.SubmitJob)
	return requested && submits
}

// rejoinMaster has a master be there again.
func (b *body) rejoinMaster(i int) {
	b.masters.isolated[i]--
	b.elect()
}

// elect has a master lead some time later, if most are there then.
func (b *body) elect() {
	if b.hasLeader() || !b.masters.majority() {
		return
	}
	b.queue.plan(b.now+b.cfg.ElectionTime, func() {
		if !b.hasLeader() && b.masters.majority() {
			b.becomeLeader(slices.Index(b.masters.isolated, 0))
		}
	})
}

// becomeLeader has a master lead whose controller knows nothing but the state. Tasknodes attach
// to it; those that do not in time are given up.
func (b *body) becomeLeader(i int) {
	m := &b.masters
	m.leader, m.leaderSince = i, b.now
	m.elections = append(m.elections, b.time())
	b.brain = control.New(b.view, b.cfg.Policy)
	b.brain.UseSoftState(b)
	b.brain.Trace(b.cfg.OnDecision != nil)
	b.events = append([]control.Event{control.Leading{}}, slices.DeleteFunc(b.events, func(ev control.Event) bool { return !isResubmitted(ev) })...)
	for _, node := range b.machines {
		if node.silentSince == 0 {
			b.attach(node)
		} else {
			b.planExpiry(node)
		}
	}
	for _, do := range m.onLeader {
		do()
	}
	m.onLeader = nil
}

// appendLog puts a batch into the log. It is not there when the leader is lost while it
// writes it; one whose disk is slow goes on meanwhile.
func (b *body) appendLog(batch []cluster.Entry) error {
	var delay int64
	if b.cfg.OnFailpoint != nil {
		delay = b.hitAppend(len(batch))
	}
	switch {
	case !b.hasLeader():
		b.resubmit(batch)
	case delay == 0:
		return b.apply(batch)
	default:
		term := b.term()
		b.masters.writing = batch
		b.queue.plan(b.now+delay, func() {
			if b.hasLeader() && b.term() == term {
				b.masters.writing = nil
				b.err = b.apply(batch)
			}
		})
	}
	return nil
}

// hitAppend has all masters come to their logs, and returns how long the leader
// takes.
func (b *body) hitAppend(entries int) (delay int64) {
	for i, away := range b.masters.isolated {
		if away > 0 {
			continue
		}
		effect := b.hitFailpoint(FailpointHit{Failpoint: AtAppend, Master: i, Entries: entries})
		if i == b.masters.leader {
			delay = effect.Delay
		}
	}
	return delay
}

// commit gives the parts of a job's output their final names, one by one. Who begins to
// lead meanwhile does it again, as far as it is left to do.
func (b *body) commit(j *job) {
	if b.cfg.CommitTime == 0 && b.cfg.OnFailpoint == nil {
		b.request(cluster.CommitJob{Job: j.id})
		return
	}
	if j.commitTerm == b.term() {
		return
	}
	j.commitTerm = b.term()
	b.commitStep(j, AtCommitBegin, 0)
}

// commitStep does what comes next in a commit: it begins, names a part, or ends.
func (b *body) commitStep(j *job, place Failpoint, part int) {
	term := b.term()
	effect := b.hitFailpoint(FailpointHit{Failpoint: place, Master: b.masters.leader})
	next := func(after int64, do func()) {
		b.queue.plan(b.now+after, func() {
			if b.hasLeader() && b.term() == term {
				do()
			}
		})
	}
	parts := len(j.in.Reduces)
	if parts == 0 {
		parts = len(j.in.Maps)
	}
	switch {
	case !b.hasLeader():
	case effect.Fail != "":
		b.request(cluster.FailJob{Job: j.id, Cause: effect.Fail})
	case place == AtCommitEnd:
		next(effect.Delay, func() { b.request(cluster.CommitJob{Job: j.id}) })
	case place == AtCommitBegin:
		next(effect.Delay, func() { b.commitStep(j, AtCommitFile, 0) })
	default:
		next(effect.Delay+b.cfg.CommitTime, func() {
			j.partsCommitted = max(j.partsCommitted, part+1)
			if part+1 < parts {
				b.commitStep(j, AtCommitFile, part+1)
				return
			}
			b.commitStep(j, AtCommitEnd, 0)
		})
	}
}
