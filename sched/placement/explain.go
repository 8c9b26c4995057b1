package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
)

// Candidate is a machine with slots and memory free for a task, as 'hammr job explain' lists it.
type Candidate struct {
	Machine       string
	Transfer      locality.Transfer // bytes of input that would be transferred
	Level         locality.Level    // how near the machine is to the input
	HasCheckpoint bool              // the machine has the checkpoint from which the task resumes
	Avoided       bool              // the task does not start there
}

// Candidates returns the machines with slots and memory free for a task, best first: the
// machine with its checkpoint, then by the bytes of input that would be transferred; avoided
// machines come last. The list helps to explain why a task is not running. A Round places many tasks
// together, so it may choose otherwise. Racks is the operator's table, as in
// sched.Placement.
func Candidates(now int64, view cluster.View, racks map[string]string, id cluster.TaskID) (found []Candidate) {
	j, stage, t, ok := view.Task(id)
	if !ok {
		return nil
	}
	topology := locality.NewTopology(racks)
	for m := range view.Machines() {
		topology.Add(Describe(m))
	}
	task := taskOf(j, t)
	avoided := append(slices.Clone(view.Avoided(j, now)), view.FailedOn(t)...)
	for m := range view.Machines() {
		if stage.Takes().FitsIn(m.FreeCapacity()) {
			machine := Describe(m)
			found = append(found, Candidate{
				m.Name, topology.Transfer(task, machine), topology.LevelOf(task, machine), m.Name == task.CheckpointOn, slices.Contains(avoided, m.Name),
			})
		}
	}
	slices.SortStableFunc(found, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Transfer.Cost(), b.Transfer.Cost()))
	})
	return found
}

// rank returns a lower number for a better candidate. It ignores the bytes that would be
// transferred.
func (c Candidate) rank() int {
	switch {
	case c.Avoided:
		return 2
	case c.HasCheckpoint:
		return 0
	}
	return 1
}

// trace records the offers of a round.
type trace struct {
	on     bool           // sched.View.Trace
	offers []*tracedOffer // in order
}

// tracedOffer records what a stage, or a class of bundles, was offered in a round.
type tracedOffer struct {
	job    *cluster.Job
	stage  *cluster.Stage
	bundle *cluster.Bundle // nil for tasks that start alone
	count  int             // tasks or bundles that could have had slots
}

// add records an offer. A stage may be offered slots several times.
func (t *trace) add(w sched.Want, most int) {
	if !t.on {
		return
	}
	i := slices.IndexFunc(t.offers, func(o *tracedOffer) bool { return o.stage == w.Stage })
	if i < 0 {
		i, t.offers = len(t.offers), append(t.offers, &tracedOffer{job: w.Job, stage: w.Stage, bundle: w.Bundle})
	}
	wanted := 0
	for other := range sched.Wants(w.Job) {
		if other.Stage == w.Stage {
			wanted += other.Count
		}
	}
	o := t.offers[i]
	o.count = min(o.count+min(most, wanted), wanted)
}

// decisions returns the offers, each followed by the number of its tasks or bundles that got
// no slots.
func (r *Round) decisions(plan sched.Plan) (out []sched.Decision) {
	if !r.trace.on {
		return nil
	}
	got := r.grants(plan)
	for _, o := range r.trace.offers {
		d := sched.Decision{
			At: r.now, Kind: sched.DecisionOffer, Pool: o.job.Spec.Pool, Job: o.job.ID, Stage: o.stage.Name,
			Slot: o.stage.Slot, Slots: o.count,
		}
		out = append(out, d)
		if d.Slots -= got[stageKey{o.job.ID, o.stage.Code}]; d.Slots > 0 {
			d.Kind = sched.DecisionSkip
			d.Class, d.Cause, d.Until = r.reason(o)
			out = append(out, d)
		}
	}
	return out
}

// grants counts the tasks of each stage to which a plan gives slots. Bundles count as one
// each, under their first stage.
func (r *Round) grants(plan sched.Plan) map[stageKey]int {
	got := make(map[stageKey]int)
	for _, s := range plan.Starts {
		got[stageKey{s.Task.Job, s.Task.Stage}]++
	}
	for _, id := range plan.Resumes {
		got[stageKey{id.Task.Job, id.Task.Stage}]++
	}
	countBundle := func(member cluster.TaskID) {
		_, stage, _, _ := r.view.Task(member)
		got[stageKey{member.Job, stage.Bundle.Stages[0].Code}]++
	}
	for _, b := range plan.Bundles {
		countBundle(b.Starts[0].Task)
	}
	for _, b := range plan.BundleResumes {
		countBundle(b.Attempts[0].Task)
	}
	return got
}

// reason returns why a part of an offer was not used, also as a class, and when the slots will be offered
// again even if nothing changes; 0 is never. The cases come in the order in which the round
// checks them.
func (r *Round) reason(o *tracedOffer) (class sched.WaitClass, cause string, until int64) {
	a := r.assigners[o.stage.Slot]
	switch {
	case a.waits[o.stage].until != 0:
		return sched.WaitLocality, a.waits[o.stage].String(), a.waits[o.stage].until
	case o.bundle != nil:
		return sched.WaitGang, o.bundleReason(), 0
	case a.remaining() == 0 && slices.ContainsFunc(r.reservations, func(res *reservation) bool { return res.count() > 0 }):
		return sched.WaitNoSlot, "free slots are reserved for tasks that start together", 0
	case a.remaining() == 0:
		return sched.WaitNoSlot, "no slot is free", 0
	case o.stage.Waiting() == 0 || !o.job.Ready(o.stage):
		return sched.WaitSuspended, "no slot is free where its attempts are suspended", 0
	}
	if lack := r.memoryReason(o.job, o.stage); lack != "" {
		return sched.WaitMemory, lack, 0
	}
	return sched.WaitAvoided, "avoids the machines with free slots: " + a.freeMachineNames(), 0
}

// deferred returns the stages that wait for machines near their input.
func (r *Round) deferred() (out []sched.StageWait) {
	for _, a := range r.assigners {
		for stage, w := range a.waits {
			out = append(out, sched.StageWait{Job: w.job, Stage: stage.Code})
		}
	}
	slices.SortFunc(out, sched.StageWait.Compare)
	return out
}

// bundleReason returns the slots that the next bundle of an offer needs.
func (o *tracedOffer) bundleReason() string {
	for w := range sched.Wants(o.job) {
		if w.Stage == o.stage && w.Suspended == nil {
			return fmt.Sprintf("needs %d map and %d reduce slots at once", w.Need[cluster.MapSlot], w.Need[cluster.ReduceSlot])
		}
	}
	return "resumes when the machines where it is suspended have slots for all of it"
}

// String describes what a stage waits for.
func (w wait) String() string {
	if w.level == locality.RackLocal {
		return "waits for a slot in the rack of its input"
	}
	return "waits for a slot where its input is"
}

// maxNames bounds the number of machines that a reason names.
const maxNames = 5

// freeMachineNames lists the machines with free slots.
func (a *assigner) freeMachineNames() string {
	var names []string
	for i, n := range a.free {
		if n > 0 {
			names = append(names, a.machines[i].Name)
		}
	}
	if more := len(names) - maxNames; more > 0 {
		names = append(names[:maxNames], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
