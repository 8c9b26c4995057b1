package sched

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
)

// maxPatientTasks bounds the stages of which tasks wait for machines: what that
// costs grows with the tasks, what it gains does not.
const maxPatientTasks = 1024

// isPatient reports whether tasks of a stage may wait for slots on machines that
// hold their input while others are free. With work for one wave only they
// start at once.
func (r *Round) isPatient(o offer) bool {
	return r.placer.patient() && r.placer.alive <= maxPatientMachines && o.stage.Located() &&
		len(o.stage.Tasks) <= maxPatientTasks && len(o.stage.Tasks) > r.placer.slots[r.kind]
}

// quota is how many more tasks of a stage each machine should run, so that none
// runs more waves than the stage has when all slots are its own. Waiting within
// that does not make the stage longer if its tasks are about as long as each
// other.
func (r *Round) quota(o offer) []int {
	slots := r.placer.slots[r.kind]
	waves := (len(o.stage.Tasks) + slots - 1) / slots
	started := make(map[string]int)
	for _, t := range o.stage.Tasks {
		switch t.State {
		case cluster.TaskRunning:
			started[t.Attempts[len(t.Attempts)-1].Machine]++
		case cluster.TaskSucceeded:
			started[t.Winner.Machine]++
		}
	}
	quota := make([]int, len(r.machines))
	for i, m := range r.machines {
		quota[i] = waves*m.Slots[r.kind] - started[m.Name]
	}
	return quota
}

// hurry gives slots that have been free for too long to any tasks of the offer,
// and notes when the next one will have been.
func (r *Round) hurry(o offer) {
	patience := r.patience(o.stage)
	impatient := func(i int) bool { return r.free[i] > 0 && r.now-r.freeSince(o, i) >= patience }
	rest, slots := r.rest(o.stage), 0
	if rest == 0 {
		return
	}
	for i, n := range r.free {
		if impatient(i) {
			slots += n
		} else if n > 0 {
			r.wakeAt(r.freeSince(o, i) + patience)
		}
	}
	if o.grant = min(rest, slots); o.grant > 0 {
		r.place([]offer{o}, nil, impatient)
	}
}

// patience is for how long a slot stays free for the stage: as the policy says,
// but no longer than three of its tasks have taken so far.
func (r *Round) patience(stage *cluster.Stage) int64 {
	patience := r.placer.Patience
	if ended := stage.Launched - stage.Running; ended > 0 {
		patience = min(patience, 3*stage.SlotMillis/int64(ended))
	}
	return patience
}

// freeSince is when a slot of machine i that is free now could have been given
// to the offer first.
func (r *Round) freeSince(o offer, i int) int64 {
	return max(r.machines[i].FreeSince[r.kind], o.job.StartedAt)
}

// delay places an offer by delay scheduling.
func (r *Round) delay(o offer) {
	allowed := make([]locality.Level, len(r.machines))
	for i := range r.machines {
		allowed[i] = r.placer.Delay.Level(r.now - r.freeSince(o, i))
	}
	tasks := r.candidates(o, false)
	demand := locality.Demand{Tasks: r.tasks(o.job, tasks), Grant: o.grant, Avoid: r.avoided(o.job)}
	starts := r.placer.topology.Nearest(r.describe(nil, nil), allowed, demand)
	for _, s := range starts {
		r.take(s.Machine, tasks[s.Task], s.Level)
	}
	r.recount()
	if len(starts) == o.stage.Waiting() {
		return
	}
	for i := range r.machines {
		if left := r.placer.Delay.Left(r.now - r.freeSince(o, i)); left > 0 && r.free[i] > 0 {
			r.wakeAt(r.now + left)
		}
	}
}
