package jobmaster

import (
	"math"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/sched"
)

// The leader counts for how long each stage waits, and why. A stage waits while at least one of its
// tasks has no slot and is not finished. Its waited time is divided among classes: at any moment
// one class counts, so the sums of all classes are the waited time.
//
// A job waits while its splits are loaded, while its output is committed, and while one of its
// stages waits for anything but its earlier stages. The class is that of its first such stage.
//
// The loop looks at all stages at most once in waitInterval, and only after it has done
// something: in between nothing changes. So a change of class is seen at most waitInterval late; that
// of the state of the job, and the start of the last task of a stage that waits, are seen at once.

const waitInterval = 1000 // ms

// waits are the waited times of a job, since its leader leads.
type waits struct {
	job    waitSum
	stages []waitSum // by index; nil before the first look
}

// waitSum is the waited time of a stage or of a job by class.
type waitSum struct {
	class  sched.WaitClass           // the present one
	since  int64                     // when it was seen first, ms since the epoch
	millis [sched.WaitClasses]uint32 // until since; at most 49 days each
}

// set notes that a class is the present one from now on.
func (s *waitSum) set(class sched.WaitClass, now int64) {
	s.millis[s.class] = s.upTo(now)
	s.class, s.since = class, now
}

// end ends the present class at a time, which may have passed while that was written to the log. What was
// counted since then is taken back.
func (s *waitSum) end(at int64) {
	s.millis[s.class] = uint32(max(int64(s.upTo(at))-max(s.since-at, 0), 0))
	s.class, s.since = sched.NotWaiting, at
}

// upTo returns the time of the present class.
func (s *waitSum) upTo(now int64) uint32 {
	return uint32(min(int64(s.millis[s.class])+max(now-s.since, 0), math.MaxUint32))
}

// message returns the times by class, with that of the present class until now.
func (s waitSum) message(now int64) (out []*wire.WaitTime) {
	s.set(s.class, now)
	for class := sched.NotWaiting + 1; class < sched.WaitClasses; class++ {
		if millis := s.millis[class]; millis > 0 {
			out = append(out, &wire.WaitTime{Class: class.String(), Millis: int64(millis)})
		}
	}
	return out
}

// countWaits looks at all jobs if that is due. Otherwise the loop wakes up when it is.
func (m *Master) countWaits() {
	now := m.now()
	if next := m.lead.waitsAt + waitInterval; now < next {
		m.lead.waitsDue = next
		return
	}
	for id, r := range m.records {
		if j := m.view.Job(id); j != nil && !j.State.Final() {
			m.contain(id, func() { m.countWaitsOf(j, r, now) })
		}
	}
	m.lead.waitsAt, m.lead.waitsDue = now, 0
}

// countWaitsOf looks at a job and its stages. All stages of a new job wait since its submission.
func (m *Master) countWaitsOf(j *cluster.Job, r *record, now int64) {
	w, class := &r.waits, m.whyJob(j, r.outage).class
	first := w.stages == nil
	if first {
		w.stages = make([]waitSum, len(j.Stages))
	}
	for i, stage := range j.Stages {
		of := m.whyStage(j, r, stage).class
		if w.stages[i].set(of, now); class == sched.NotWaiting && of != sched.WaitNotReady {
			class = of
		}
	}
	if w.job.set(class, now); !first {
		return
	}
	w.job.since = max(j.SubmittedAt, m.lead.since)
	for i := range w.stages {
		w.stages[i].since = w.job.since
	}
}

// startEndsWait looks at a job whose attempt has started if no other task of its stage waits.
func (m *Master) startEndsWait(id cluster.AttemptID) {
	if j, stage, _, known := m.view.Task(id.Task); known && stage.ToStart()+stage.SuspendedCount() == 0 {
		m.countWaitsOf(j, m.record(j.ID), m.now())
	}
}

// waitsSince returns when the waits of a job were counted from, ms since the epoch; 0 if all of them
// were. The waits before this leader led are not known.
func (m *Master) waitsSince(j *cluster.Job) int64 {
	if m.lead == nil || m.lead.since <= j.SubmittedAt {
		return 0
	}
	return m.lead.since
}
