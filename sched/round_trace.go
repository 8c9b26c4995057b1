package sched

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// tracedOffer is what a stage, or a class of bundles, has been offered in a round.
type tracedOffer struct {
	job    *cluster.Job
	stage  *cluster.Stage
	bundle *cluster.Bundle // nil for tasks that start alone
	count  int             // of tasks or bundles that could have had slots
}

// traceOffer remembers an offer, if it is traced. One stage may be offered slots again
// and again.
func (r *Round) traceOffer(j *cluster.Job, stage *cluster.Stage, b *cluster.Bundle, most int) {
	if !r.traced {
		return
	}
	i := slices.IndexFunc(r.tracedOffers, func(m *tracedOffer) bool { return m.stage == stage })
	if i < 0 {
		i, r.tracedOffers = len(r.tracedOffers), append(r.tracedOffers, &tracedOffer{job: j, stage: stage, bundle: b})
	}
	m := r.tracedOffers[i]
	wants := countAlone(j, stage)
	if b != nil {
		wants = waitingBundles(j, b) + len(checkpointedGangs(j, b)) + len(j.SuspendedBundles(b))
	}
	m.count = min(m.count+min(most, wants), wants)
}

// decisions are the offers, and what has come to nothing of each.
func (r *Round) decisions(plan Plan) (out []Decision) {
	if !r.traced {
		return nil
	}
	got := r.grants(plan)
	for _, m := range r.tracedOffers {
		d := Decision{
			At: r.now, Kind: DecisionOffer, Pool: m.job.Spec.Pool, Job: m.job.ID, Stage: m.stage.Name,
			Slot: m.stage.Slot, Slots: m.count,
		}
		out = append(out, d)
		if d.Slots -= got[stageKey{m.job.ID, m.stage.Code}]; d.Slots > 0 {
			d.Kind = DecisionSkip
			d.Cause, d.Until = r.reason(m)
			out = append(out, d)
		}
	}
	return out
}

// grants is how many tasks of each stage a plan gives slots; of bundles, how many
// bundles, under their first stage.
func (r *Round) grants(plan Plan) map[stageKey]int {
	got := make(map[stageKey]int)
	for _, s := range plan.Starts {
		got[stageKey{s.Task.Job, s.Task.Stage}]++
	}
	for _, id := range plan.Resumes {
		got[stageKey{id.Task.Job, id.Task.Stage}]++
	}
	for _, b := range plan.Bundles {
		_, stage, _, _ := r.view.Task(b.Starts[0].Task)
		got[stageKey{b.Job, stage.Bundle.Stages[0].Code}]++
	}
	for _, b := range plan.BundleResumes {
		_, stage, _, _ := r.view.Task(b.Attempts[0].Task)
		got[stageKey{b.Attempts[0].Task.Job, stage.Bundle.Stages[0].Code}]++
	}
	return got
}

// reason tells why not all of an offer was taken, and when it will be looked at
// again though nothing changes; 0 is never.
func (r *Round) reason(m *tracedOffer) (cause string, until int64) {
	l := r.assigners[m.stage.Slot]
	switch {
	case l.waits[m.stage].until != 0:
		return l.waits[m.stage].String(), l.waits[m.stage].until
	case m.bundle != nil && waitingBundles(m.job, m.bundle) == 0 && len(checkpointedGangs(m.job, m.bundle)) == 0:
		return "goes on when there are slots for all of it on the machines where it stands still", 0
	case m.bundle != nil:
		need := m.bundle.Need()
		if paused := checkpointedGangs(m.job, m.bundle); len(paused) > 0 {
			need = m.bundle.NeedOf(paused[0])
		}
		return fmt.Sprintf("needs %d map and %d reduce slots at once", need[cluster.MapSlot], need[cluster.ReduceSlot]), 0
	case l.remaining() == 0 && len(r.reservations) > 0:
		return "free slots are held for tasks that start together", 0
	case l.remaining() == 0:
		return "no slot is free", 0
	case m.stage.Waiting() == 0 || !m.job.Ready(m.stage):
		return "no slot is free where its attempts stand still", 0
	}
	return "avoids the machines with free slots: " + l.freeMachineNames(), 0
}

// String tells what is waited for.
func (w wait) String() string {
	if w.level == locality.RackLocal {
		return "waits for a slot in the rack of its input"
	}
	return "waits for a slot where its input is"
}

// maxNames bounds how many machines a cause names.
const maxNames = 5

// freeMachineNames are the machines with free slots.
func (l *assigner) freeMachineNames() string {
	var names []string
	for i, n := range l.free {
		if n > 0 {
			names = append(names, l.machines[i].Name)
		}
	}
	if more := len(names) - maxNames; more > 0 {
		names = append(names[:maxNames], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
