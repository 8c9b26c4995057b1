package cluster

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// Snapshot is an immutable copy of a State at one moment. It shares no memory that the state
// changes, so another goroutine may encode it.
//
// A snapshot contains only values that cannot be computed. Restore computes the rest:
// counts, sums and indexes. A snapshot has no splits; they must be loaded into a restored
// state again.
type Snapshot struct {
	cluster clusterRecord
	jobs    []jobRecord
}

// Snapshot copies the state. It costs as much as copying all tasks and attempts once.
func (s *State) Snapshot() *Snapshot {
	snap := &Snapshot{
		cluster: clusterRecord{ID: s.id, Policy: s.policy, PolicyConf: s.policyConf, Pools: s.pools, Jobs: len(s.jobs.live), Submitted: s.jobs.submitted, Forgotten: s.forgotten, SweptAt: s.sweptAt, Restores: s.restores, Version: s.version},
		jobs:    make([]jobRecord, len(s.jobs.live)),
	}
	if s.limits != DefaultLimits() {
		limits := s.limits
		snap.cluster.Limits = &limits
	}
	for _, m := range s.machines {
		snap.cluster.Machines = append(snap.cluster.Machines, recordMachine(m))
	}
	for _, client := range slices.Sorted(maps.Keys(s.sessions)) {
		snap.cluster.Sessions = append(snap.cluster.Sessions, recordSession(client, s.sessions[client]))
	}
	for i, j := range s.jobs.live {
		snap.jobs[i] = recordJob(j)
	}
	return snap
}

// recordMachine copies the values of a machine that cannot be computed. It stores the ids of
// attempts in order of start, because the attempts themselves do not contain that order.
func recordMachine(m *Machine) machineRecord {
	r := machineRecord{
		Name: m.Name, Instance: m.Instance, Address: m.Address, HTTP: m.HTTP, Rack: m.Rack, Hosts: m.Hosts,
		Offered: m.Offered, MemoryMB: m.MemoryMB, Epoch: m.Epoch, Lost: m.Lost, LostAt: m.LostAt, Excluded: m.Excluded, Draining: m.Draining, UntilRestart: m.UntilRestart, DrainDeadline: m.DrainDeadline, Unhealthy: m.Unhealthy, FreeSince: m.FreeSince,
		Unreached: m.unreached, FailedTasks: m.failedTasks,
	}
	for _, a := range m.Attempts {
		r.Attempts = append(r.Attempts, a.ID)
	}
	return r
}

// recordSession copies a session, its results in order of sequence so that the same state
// gives the same bytes.
func recordSession(client string, se *session) sessionRecord {
	r := sessionRecord{Client: client, Newest: se.newest, At: se.at}
	for _, sequence := range slices.Sorted(maps.Keys(se.results)) {
		r.Results = append(r.Results, resultRecord{Sequence: sequence, Job: se.results[sequence]})
	}
	return r
}

// recordJob copies a job, but shares two kinds of values with it: slices to which the job
// only appends, and values behind pointers that the job replaces as a whole.
func recordJob(j *Job) jobRecord {
	r := jobRecord{
		Number: j.ID.Number, Archived: j.Archived, Summary: j.Summary,
		Spec: j.Spec, State: j.State, Outcome: j.Outcome, Cause: j.Cause,
		SubmittedAt: j.SubmittedAt, StartedAt: j.StartedAt, CommitAt: j.CommitAt, FinishedAt: j.FinishedAt,
		Failures: j.Failures, Counters: j.names, MachineFailures: j.machineFailures, Suspended: j.Suspended, Outage: j.Outage,
		Stages: make([]stageRecord, len(j.Stages)), tasks: make([][]taskRecord, len(j.Stages)),
	}
	for i, stage := range j.Stages {
		r.Stages[i] = recordStage(stage)
		r.tasks[i] = recordTasks(stage)
	}
	if slices.ContainsFunc(j.Bundles, func(b *Bundle) bool { return b.starts != nil }) {
		for _, b := range j.Bundles {
			r.BundleStarts = append(r.BundleStarts, b.starts)
		}
	}
	return r
}

// recordStage copies the counts and times of a stage that cannot be counted over its
// tasks.
func recordStage(s *Stage) stageRecord {
	return stageRecord{
		Tasks: len(s.Tasks), WritesFiles: s.WritesFiles, StartedAt: s.StartedAt, FinishedAt: s.FinishedAt,
		Launched: s.Launched, LocalStarts: s.LocalStarts, RackStarts: s.RackStarts, Failed: s.Failed, Killed: s.Killed, SlotMillis: s.SlotMillis,
		CombineSets: slices.Clone(s.combineSets), Preemption: s.Preemption,
	}
}

// recordTasks allocates the attempts of all tasks at once.
func recordTasks(s *Stage) []taskRecord {
	count := 0
	for _, t := range s.Tasks {
		count += len(t.Attempts)
	}
	attempts := make([]attemptRecord, 0, count)
	tasks := make([]taskRecord, len(s.Tasks))
	for i, t := range s.Tasks {
		first := len(attempts)
		for n, a := range t.Attempts {
			record := recordAttempt(a)
			if a.ID.Number != n {
				record.Number = a.ID.Number
			}
			attempts = append(attempts, record)
		}
		tasks[i] = taskRecord{
			State: t.State, Split: t.Split, Part: t.Part, Range: recordRange(t.Range), Ranged: t.Ranged, Skip: t.Skip,
			Attempts: attempts[first:len(attempts):len(attempts)], Charged: t.Charged,
			Output: t.Output, Earlier: t.Earlier, Checkpoint: t.Checkpoint, ConsistentCheckpoint: t.ConsistentCheckpoint, Counts: t.counts, Unreached: t.Unreached,
		}
	}
	return tasks
}

// recordAttempt writes the columns of the attempt's state instead of the state.
func recordAttempt(a *Attempt) attemptRecord {
	info, requested := a.State.info(), a.PreemptRequested()
	return attemptRecord{
		Machine: a.Machine, Status: info.status, OnMachine: info.place != gone, Suspended: info.place == inMemory,
		Lost: info.lost, Revoked: info.revoked, WorkLost: info.workLost,
		Preempting: requested, Splitting: a.PreemptMode == preempt.Split, PreemptRequestedAt: a.PreemptRequestedAt, DeclinedAt: a.DeclinedAt,
		Range: recordRange(a.Range), From: a.From, MovedTo: a.MovedTo, CheckpointMoved: a.CheckpointMoved,
		StartedAt: a.StartedAt, EndedAt: a.EndedAt, Cause: a.Cause,
		SuspendedAt: a.SuspendedAt, SuspendedMillis: a.SuspendedMillis, ResumedAt: a.ResumedAt,
	}
}

func recordRange(r dag.Range) rangeRecord {
	return rangeRecord{r.Start.Offset, r.Start.Skip, r.End.Offset, r.End.Skip}
}
