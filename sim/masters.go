package sim

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
)

// masters are the jobmasters. One of them leads as long as a majority is reachable. The
// state is in the log of all.
//
//	leads ── isolateMaster (leader, or majority lost) ─► no leader ── elect, after ElectionTime ─► becomeLeader
//
// Only the log matters to the model: a new leader has the state of the old one, and
// everything else, such as progress and pending proposals, is lost with it.
type masters struct {
	isolated    []int // of each master, the number of faults that isolate it; 0 if it is reachable
	leader      int   // its number; -1 for none
	leaderSince int64 // when it became the leader
	elections   []int64

	onLeader []func()        // called when a master becomes the leader
	writing  []cluster.Entry // a batch that the leader is writing to a slow log
}

// majority reports whether a majority of masters is reachable.
func (m *masters) majority() bool {
	reachable := 0
	for _, faults := range m.isolated {
		if faults == 0 {
			reachable++
		}
	}
	return 2*reachable > len(m.isolated)
}

// hasLeader reports whether a master leads.
func (b *body) hasLeader() bool { return b.masters.leader >= 0 }

// term numbers the leaders.
func (b *body) term() int { return len(b.masters.elections) }

// isolateMaster makes a master unreachable. The cluster then has no leader if this master
// led, or if the majority is lost.
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

// resubmit makes clients repeat submissions that were never answered.
func (b *body) resubmit(batch []cluster.Entry) {
	for _, e := range batch {
		if _, submits := e.Command.(cluster.SubmitJob); submits {
			b.request(e.Command)
		}
	}
}

// isResubmitted reports whether a client repeats an event until a master answers. Tasknodes
// report everything again when they attach, so their events may be dropped.
func isResubmitted(ev control.Event) bool {
	r, requested := ev.(control.Requested)
	_, submits := r.Command.(cluster.SubmitJob)
	return requested && submits
}

// rejoinMaster makes a master reachable again.
func (b *body) rejoinMaster(i int) {
	b.masters.isolated[i]--
	b.elect()
}

// elect plans an election, if a majority is reachable then.
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

// becomeLeader starts a controller that knows only the state. Tasknodes attach to it; a
// tasknode that does not attach in time expires.
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

// appendLog writes a batch to the log. If the leader is lost while it writes, the batch is
// lost. A leader with a slow disk continues meanwhile.
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
		b.masters.writing = batch
		b.planAsLeader(delay, func() {
			b.masters.writing = nil
			b.err = b.apply(batch)
		})
	}
	return nil
}

// planAsLeader calls do after some ms, unless the leader of now has been lost by then.
func (b *body) planAsLeader(after int64, do func()) {
	term := b.term()
	b.queue.plan(b.now+after, func() {
		if b.hasLeader() && b.term() == term {
			do()
		}
	})
}

// hitAppend makes all masters reach AtAppend, and returns the delay of the leader.
func (b *body) hitAppend(entries int) (delay int64) {
	for i, faults := range b.masters.isolated {
		if faults > 0 {
			continue
		}
		effect := b.hitFailpoint(FailpointHit{Failpoint: AtAppend, Master: i, Entries: entries})
		if i == b.masters.leader {
			delay = effect.Delay
		}
	}
	return delay
}

// commit renames the parts of a job's output, one after the other. A new leader renames the
// remaining parts.
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

// commitStep does the next step of a commit: it begins, renames a part, or ends.
func (b *body) commitStep(j *job, place Failpoint, part int) {
	effect := b.hitFailpoint(FailpointHit{Failpoint: place, Master: b.masters.leader})
	parts := len(j.in.Reduces)
	if parts == 0 {
		parts = len(j.in.Maps)
	}
	switch {
	case !b.hasLeader():
	case effect.Fail != "":
		b.request(cluster.FailJob{Job: j.id, Cause: effect.Fail})
	case place == AtCommitEnd:
		b.planAsLeader(effect.Delay, func() { b.request(cluster.CommitJob{Job: j.id}) })
	case place == AtCommitBegin:
		b.planAsLeader(effect.Delay, func() { b.commitStep(j, AtCommitFile, 0) })
	default:
		b.planAsLeader(effect.Delay+b.cfg.CommitTime, func() {
			j.partsCommitted = max(j.partsCommitted, part+1)
			if part+1 < parts {
				b.commitStep(j, AtCommitFile, part+1)
				return
			}
			b.commitStep(j, AtCommitEnd, 0)
		})
	}
}
