package cluster

import "slices"

// A failed task is tried on another machine, and a job avoids machines on which many of its
// tasks have failed, for a while. Both apply only while there are other machines: they
// change where a task runs, never whether it runs.

// maxAvoidedPercent is the percentage of the machines that a job may avoid. If the job fails
// on more machines, the job itself is probably the cause, and it avoids none (Hadoop's
// yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent).
const maxAvoidedPercent = 33

// machineFailures counts the failed attempts of a job on one machine.
type machineFailures struct {
	Machine string `cbor:"Machine"`
	Count   int    `cbor:"Count"`
	At      int64  `cbor:"At"` // time of the latest failure, ms since the epoch
}

// remaining returns how many of the failures still count. One failure is forgotten every
// decay ms.
func (f machineFailures) remaining(now, decay int64) int {
	if decay <= 0 {
		return f.Count
	}
	return f.Count - int(min(max(now-f.At, 0)/decay, int64(f.Count)))
}

// blame counts a failure against a machine.
func (j *Job) blame(machine string, now int64) {
	i := slices.IndexFunc(j.MachineFailures, func(f machineFailures) bool { return f.Machine == machine })
	if i < 0 {
		j.MachineFailures = append(slices.Clip(j.MachineFailures), machineFailures{machine, 1, now})
		return
	}
	j.MachineFailures = slices.Clone(j.MachineFailures)
	j.MachineFailures[i] = machineFailures{machine, j.MachineFailures[i].remaining(now, j.Spec.FailureDecayMillis) + 1, now}
}

// Avoided returns the machines that the job avoids for all of its tasks, by name; nil for
// none. All jobs avoid the machines that are suspected (suspicion.go).
func (v View) Avoided(j *Job, now int64) []string {
	var bad []string
	for _, f := range j.MachineFailures {
		if m := v.Machine(f.Machine); m != nil && !m.Lost && j.Spec.MaxMachineFailures > 0 &&
			f.remaining(now, j.Spec.FailureDecayMillis) >= j.Spec.MaxMachineFailures {
			bad = append(bad, f.Machine)
		}
	}
	if v.tooManyToAvoid(len(bad)) {
		bad = nil
	}
	all := bad
	for _, m := range v.s.suspected {
		if !m.Lost && m.SuspicionAt(now) != "" && !slices.Contains(bad, m.Name) {
			all = append(all, m.Name)
		}
	}
	if v.tooManyToAvoid(len(all)) {
		return bad
	}
	return all
}

// tooManyToAvoid reports whether a number of machines is too large a part of the live ones.
func (v View) tooManyToAvoid(machines int) bool {
	return machines*100 > v.aliveMachines()*maxAvoidedPercent
}

// FailedOn returns the machines on which a task has failed and is not tried again, by name;
// nil if it has failed on none, or on every live one.
func (v View) FailedOn(t *Task) []string {
	if !t.HasFailed() {
		return nil
	}
	var bad []string
	for _, a := range t.Attempts {
		if m := v.Machine(a.Machine); a.Status() == StatusFailed && m != nil && !m.Lost && !slices.Contains(bad, a.Machine) {
			bad = append(bad, a.Machine)
		}
	}
	if len(bad) >= v.aliveMachines() {
		return nil
	}
	return bad
}

// aliveMachines returns the number of machines that are not lost.
func (v View) aliveMachines() int { return len(v.s.Machines) - v.s.lost }
