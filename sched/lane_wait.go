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
func (l *assigner) isPatient(o offer) bool {
	return !l.noLocalityWait && !o.noWait && l.placer.patient() && l.placer.live <= maxPatientMachines && o.stage.Located() &&
		len(o.stage.Tasks) <= maxPatientTasks && len(o.stage.Tasks) > l.total
}

// quota is how many more tasks of a stage each machine should run, so that none
// runs more waves than the stage has when all slots are its own. Waiting within
// that does not make the stage longer if its tasks are about as long as each
// other.
func (l *assigner) quota(o offer) []int {
	slots := l.total
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
	quota := make([]int, len(l.machines))
	for i, m := range l.machines {
		quota[i] = waves*l.capacity(m) - started[m.Name]
	}
	return quota
}

// assignOverdue gives slots that have been free for too long to any tasks of the offer,
// and notes when the next one will have been.
func (l *assigner) assignOverdue(o offer) {
	patience := l.maxWait(o.stage)
	if o.stage.Waiting()-l.placed[o.stage] == 1 {
		patience = 0 // the last one waits for a slot beside it while others idle: the stage would only take longer
	}
	impatient := func(i int) bool { return l.free[i] > 0 && l.now-l.freeSince(o, i) >= patience }
	rest, slots := l.remainingTasks(o), 0
	if rest == 0 {
		return
	}
	for i, n := range l.free {
		if impatient(i) {
			slots += n
		} else if n > 0 {
			l.noteWait(o.stage, l.freeSince(o, i)+patience, locality.MachineLocal)
		}
	}
	if o.grant = min(rest, slots); o.grant > 0 {
		l.assignByFlow([]offer{o}, nil, impatient)
	}
}

// maxWait is for how long a slot stays free for the stage: as the policy says,
// but no longer than three of its tasks have taken so far.
func (l *assigner) maxWait(stage *cluster.Stage) int64 {
	patience := l.placer.Patience
	if ended := stage.Launched - stage.Running; ended > 0 {
		patience = min(patience, 3*stage.SlotMillis/int64(ended))
	}
	return patience
}

// freeSince is when a slot of machine i that is free now could have been given
// to the offer first.
func (l *assigner) freeSince(o offer, i int) int64 {
	since := o.job.StartedAt
	for kind, n := range l.unit {
		if n > 0 {
			since = max(since, l.machines[i].FreeSince[kind])
		}
	}
	return since
}

// assignByDelay places an offer by delay scheduling.
func (l *assigner) assignByDelay(o offer) {
	d := l.placer.Delay
	waited := l.waited(o)
	allowed := make([]locality.Level, len(l.machines))
	for i := range l.machines {
		allowed[i] = d.Level(waited[i])
	}
	tasks := l.candidateTasks(o, false)
	demand := locality.Demand{Tasks: l.localityTasks(o.job, tasks), Grant: o.grant, Avoid: l.avoided(o.job)}
	starts := l.placer.topology.Nearest(l.localityMachines(nil, nil), allowed, demand)
	for _, s := range starts {
		l.assignTask(s.Machine, tasks[s.Task], s.Level)
		l.placed[o.stage]++
	}
	l.recount()
	if l.placed[o.stage] == o.stage.Waiting() {
		return
	}
	for i, n := range l.free {
		if n == 0 {
			continue
		}
		l.placer.noteSkip(o, l.now)
		if left := d.Remaining(waited[i]); left > 0 {
			l.noteWait(o.stage, l.now+left, allowed[i])
		}
	}
}

// waited is for how long each machine has waited for tasks of an offer near to it:
// as long as its slot is free, or as the job has let slots go by if none that is
// free now has waited for that long itself.
func (l *assigner) waited(o offer) []int64 {
	waited := make([]int64, len(l.machines))
	var job int64
	if since := l.placer.skippedSince(o); since != 0 {
		job = l.now - since
	}
	for i, n := range l.free {
		waited[i] = l.now - l.freeSince(o, i)
		if n > 0 && waited[i] >= job {
			job = 0
		}
	}
	for i := range waited {
		waited[i] = max(waited[i], job)
	}
	return waited
}
