package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/preempt"
)

// Restore makes a state that behaves like the original, except that no job's splits are
// loaded. What a snapshot has is taken as it is, even if a part contradicts another: the masters
// that run have it too, and must be able to restart. Counts and indexes are computed, whatever
// they were. It is an error if no state has the form of the records.
func (s *Snapshot) Restore() (*State, error) {
	r := restorer{State: NewAt(s.cluster.ID, s.cluster.Version)}
	r.policy, r.policyConf = s.cluster.Policy, s.cluster.PolicyConf
	if s.cluster.Limits != nil {
		r.limits = *s.cluster.Limits
	}
	if len(s.cluster.Pools) > 0 {
		r.pools = s.cluster.Pools
	}
	r.forgotten, r.sweptAt, r.restores = s.cluster.Forgotten, s.cluster.SweptAt, s.cluster.Restores
	r.addMachines(s.cluster.Machines)
	r.addSessions(s.cluster.Sessions)
	r.jobs.submitted = s.cluster.Submitted
	for i := range s.jobs {
		r.addJob(&s.jobs[i])
	}
	r.placeAttempts(s.cluster.Machines)
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("cluster: snapshot of no possible state: %w", err)
	}
	return r.State, nil
}

// restorer is a state under construction, with the errors found.
type restorer struct {
	*State
	errs []error
}

// addError notes an error, and ignores nil.
func (r *restorer) addError(problem error) {
	if problem != nil && len(r.errs) < maxProblems {
		r.errs = append(r.errs, problem)
	}
}

// addMachines adds the machines, without their attempts.
func (r *restorer) addMachines(records []machineRecord) {
	for i, m := range records {
		if r.byName[m.Name] != nil {
			r.addError(fmt.Errorf("machine %q is in it twice", m.Name))
		}
		machine := &Machine{
			Name: m.Name, Instance: m.Instance, Address: m.Address, HTTP: m.HTTP, Rack: m.Rack, Hosts: m.Hosts,
			Offered: m.Offered, MemoryMB: m.MemoryMB, Epoch: m.Epoch, Lost: m.Lost, LostAt: m.LostAt, Excluded: m.Excluded, Draining: m.Draining, UntilRestart: m.UntilRestart, DrainDeadline: m.DrainDeadline, Unhealthy: m.Unhealthy, index: i,
			unreached: m.Unreached, failedTasks: m.FailedTasks,
		}
		if len(m.Unreached)+len(m.FailedTasks) > 0 {
			r.evidence = append(r.evidence, machine)
		}
		machine.Slots = machine.usableSlots()
		r.machines = append(r.machines, machine)
		if m.Lost {
			r.lost++
		}
		r.byName[m.Name] = machine
	}
}

// addSessions adds the requests that are remembered.
func (r *restorer) addSessions(records []sessionRecord) {
	for _, c := range records {
		se := &session{newest: c.Newest, at: c.At, results: make(map[uint64]JobID, len(c.Results))}
		r.sessions[c.Client] = se
		for _, result := range c.Results {
			se.results[result.Sequence] = result.Job
		}
		r.results += len(se.results)
	}
}

// addJob adds a job with its tasks and attempts. Its stages are built from its graph, so the
// record must have the same number of stages.
func (r *restorer) addJob(record *jobRecord) {
	if n := len(r.jobs.live); n > 0 && r.jobs.live[n-1].ID.Number >= record.Number || record.Number < 1 || record.Number > r.jobs.submitted {
		r.addError(fmt.Errorf("job %d of %d submitted is out of order", record.Number, r.jobs.submitted))
		return
	}
	j := &Job{
		ID:   JobID{Cluster: r.id, Number: record.Number},
		Spec: record.Spec, State: record.State, Outcome: record.Outcome, Cause: record.Cause,
		SubmittedAt: record.SubmittedAt, StartedAt: record.StartedAt, CommitAt: record.CommitAt, FinishedAt: record.FinishedAt,
		Failures: slices.Clip(record.Failures), names: slices.Clip(record.Counters),
		machineFailures: slices.Clip(record.MachineFailures),
	}
	r.jobs.add(j)
	if record.Archived {
		j.archive(record.Summary)
		return
	}
	if !j.State.Final() {
		r.outputs.add(j.Spec.OutputKey, j.ID)
	}
	if err := j.Spec.Graph.Validate(); err != nil {
		r.addError(fmt.Errorf("%v: %w", j.ID, err))
		return
	}
	j.buildStages()
	if len(record.Stages) != len(j.Stages) {
		r.addError(fmt.Errorf("%v: %d stages for a graph of %d", j.ID, len(record.Stages), len(j.Stages)))
		return
	}
	if len(j.names) > 0 {
		j.nameIndex = make(map[CounterName]int, len(j.names))
	}
	for i, name := range j.names {
		j.nameIndex[name] = i
	}
	j.Outage = record.Outage
	j.setSuspended(record.Suspended)
	r.addError(j.restoreStarts(record.BundleStarts))
	for i, stage := range j.Stages {
		r.addError(stage.restore(record.Stages[i]))
		for n := range record.tasks[i] {
			r.addError(r.addTask(j, stage, &record.tasks[i][n]))
		}
		if stage.RequiredForCommit() {
			j.requiredLeft += len(stage.Tasks) - stage.Finished
		}
	}
}

// restoreStarts restores how often bundles were started.
func (j *Job) restoreStarts(starts [][]int) error {
	if len(starts) > len(j.Bundles) {
		return fmt.Errorf("%v: starts of %d classes of bundles, of which it has %d", j.ID, len(starts), len(j.Bundles))
	}
	for i, n := range starts {
		if len(n) != 0 && len(n) != j.Bundles[i].Count {
			return fmt.Errorf("%v: starts of %d bundles of class %d, of which it has %d", j.ID, len(n), i, j.Bundles[i].Count)
		}
		if len(n) > 0 {
			j.Bundles[i].starts = n
		}
	}
	return nil
}

// restore restores the counts of a stage. The numbers of failed and killed attempts are
// counted again.
func (s *Stage) restore(r stageRecord) error {
	of := func(sets []combineSet, edge int) bool {
		return slices.ContainsFunc(sets, func(sh combineSet) bool { return sh.Edge == edge })
	}
	for _, set := range r.CombineSets {
		if !of(s.combineSets, set.Edge) {
			return fmt.Errorf("stage %s: shares of edge %d, which has none", s.Name, set.Edge)
		}
	}
	for _, set := range s.combineSets {
		if !of(r.CombineSets, set.Edge) {
			return fmt.Errorf("stage %s: no shares of edge %d", s.Name, set.Edge)
		}
	}
	s.combineSets, s.Preemption = slices.Clone(r.CombineSets), r.Preemption
	s.WritesFiles, s.StartedAt, s.FinishedAt = r.WritesFiles, r.StartedAt, r.FinishedAt
	s.Launched, s.LocalStarts, s.RackStarts, s.SlotMillis = r.Launched, r.LocalStarts, r.RackStarts, r.SlotMillis
	return nil
}

// addTask adds a task to the indexes and counts that setPending, step and count keep
// while the state lives.
func (r *restorer) addTask(j *Job, stage *Stage, record *taskRecord) error {
	t := &Task{
		ID:    TaskID{Job: j.ID, Stage: stage.Code, Number: len(stage.Tasks)},
		State: record.State, Split: record.Split, Part: record.Part, Range: record.Range.asRange(), Ranged: record.Ranged,
		Skip: slices.Clip(record.Skip), Charged: record.Charged, Unreached: record.Unreached,
		Output: record.Output, Earlier: record.Earlier, Checkpoint: record.Checkpoint, ConsistentCheckpoint: record.ConsistentCheckpoint, counts: record.Counts,
	}
	stage.Tasks = append(stage.Tasks, t)
	if len(t.counts) > len(j.names) || t.Part < 0 || t.Part > t.ID.Number {
		return fmt.Errorf("%v: %d counters of %d, part %d", t.ID, len(t.counts), len(j.names), t.Part)
	}
	stage.addCounts(j.names, t.counts)
	switch t.State {
	case TaskPending, TaskCheckpointed:
		stage.pending.add(t.ID.Number)
		stage.indexCheckpoint(t)
		j.indexHosts(stage, t)
	case TaskRunning:
		stage.Running++
	case TaskSucceeded:
		stage.Finished++
	}
	err := r.addAttempts(taskRef{job: j, stage: stage, task: t}, record.Attempts)
	r.indexRestored(t)
	return err
}

// indexRestored enters a task under the machines that have its output and checkpoints.
func (r *restorer) indexRestored(t *Task) {
	if t.Winner != nil {
		r.indexData(t.Winner.DataMachine(), t)
	}
	for _, c := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
		if c != nil {
			r.indexData(c.Machine, t)
		}
	}
}

// addAttempts adds the attempts of a task, allocated at once.
func (r *restorer) addAttempts(p taskRef, records []attemptRecord) error {
	attempts := make([]Attempt, len(records))
	for n, record := range records {
		a := &attempts[n]
		id := AttemptID{Task: p.task.ID, Number: cmp.Or(record.Number, n)}
		state, err := record.state()
		if err != nil {
			return fmt.Errorf("%v: %w", id, err)
		}
		*a = Attempt{
			ID: id, Machine: record.Machine, Slot: p.stage.Slot, State: state,
			Range: record.Range.asRange(), From: record.From, MovedTo: record.MovedTo, CheckpointMoved: record.CheckpointMoved,
			StartedAt: record.StartedAt, EndedAt: record.EndedAt, Cause: record.Cause,
			PreemptRequestedAt: record.PreemptRequestedAt, PreemptMode: record.preemptMode(), DeclinedAt: record.DeclinedAt,
			SuspendedAt: record.SuspendedAt, SuspendedMillis: record.SuspendedMillis, ResumedAt: record.ResumedAt,
		}
		p.task.Attempts = append(p.task.Attempts, a)
		p.stage.countStatus(a.Status(), 1)
		if a.Status() == StatusSucceeded {
			p.task.Winner = a
		}
		if a.State == AttemptOutputLost {
			p.stage.lostUnneeded.add(p.task.ID.Number)
		}
		if !a.OnMachine() {
			continue
		}
		p.job.Occupied++
		if a.Suspended() {
			p.stage.noteSuspended(a)
		}
	}
	return nil
}

// state returns the state that has the columns of the record. For an attempt that has
// succeeded, it ignores whether it was revoked and restored before.
func (r attemptRecord) state() (AttemptState, error) {
	info := attemptStateInfo{status: r.Status, lost: r.Lost, revoked: r.Revoked && r.Status != StatusSucceeded, workLost: r.WorkLost}
	switch {
	case r.OnMachine && r.Suspended:
		info.place = inMemory
	case r.OnMachine:
		info.place = inSlot
	}
	for s := AttemptRunning; int(s) < len(attemptStates); s++ {
		// AttemptRunning and AttemptPreempting have the same columns; only Preempting
		// distinguishes them.
		if s.info() == info && (r.Status != StatusRunning || r.Preempting == (s == AttemptPreempting)) {
			return s, nil
		}
	}
	return 0, fmt.Errorf("no attempt is %+v, preempting: %v", info, r.Preempting)
}

// preemptMode returns the mode in which the attempt was ordered last to save its work, whether it has obeyed or
// declined.
func (r attemptRecord) preemptMode() preempt.Mode {
	switch {
	case r.Splitting:
		return preempt.Split
	case r.PreemptRequestedAt > 0:
		return preempt.Checkpoint
	}
	return ""
}

// placeAttempts gives each machine its attempts, in order of start, and takes their slots. An
// attempt that the record of its machine lacks comes last.
func (r *restorer) placeAttempts(records []machineRecord) {
	tx := &transition{State: r.State}
	present := tx.countPresent()
	for i, m := range r.machines {
		listed := make([]*Attempt, 0, len(records[i].Attempts))
		for _, id := range records[i].Attempts {
			if p, err := r.attempt(id); err == nil {
				listed = append(listed, p.attempt)
			}
		}
		m.Attempts = inOrder(listed, present[m])
		tx.indexFree(m)
		m.FreeSince = records[i].FreeSince
	}
}
