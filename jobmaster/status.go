package jobmaster

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// status describes a job. The caller runs the returned function, which makes the message,
// outside of the loop and only once: it sums up the counters of the running attempts, of
// which there may be thousands. status itself copies what the function needs.
//
// Watchers get a status several times a second, so status must not visit every task.
func (m *Master) status(j *cluster.Job, r *record) func() *wire.JobStatus {
	s := m.summary(j, r)
	s.Phases, s.Failures = phases(j), failures(j)
	tasks, sums := countersByKind(j, r.progress), jobCounters(j)
	return func() *wire.JobStatus {
		for _, c := range tasks {
			c.addTo(sums)
		}
		for _, group := range sums.Groups() {
			for _, name := range sums.Names(group) {
				s.Counters = append(s.Counters, &taskproc.Counter{Group: group, Name: name, Value: sums[group][name]})
			}
		}
		return s
	}
}

// summary describes a job without its counters, phases and failures.
func (m *Master) summary(j *cluster.Job, r *record) *wire.JobStatus {
	s := &wire.JobStatus{
		JobId: j.ID.String(), Name: j.Spec.Name, User: j.Spec.User, State: wire.JobState(j.State),
		Queue: j.Spec.Pool, Priority: priorityName(j.Spec.Priority), SubmitHost: r.spec.SubmitHost,
		Suspended: j.Suspended, Reason: m.reason(j, r.outage), Cause: j.Cause, OutputDir: j.Spec.OutputDir, LogDir: m.logDir(j, r),
		SubmitTime: j.SubmittedAt, FinishTime: j.FinishedAt, InputBytes: r.bytes,
		ProgressPartial: len(r.awaitingProgress) > 0 && m.lead != nil && m.now() < m.lead.since+adoptionWindow,
	}
	for _, stage := range j.Stages {
		addStage(s, stage, r.fractions[stage.Code])
	}
	return s
}

// addStage adds a stage to the numbers of maps or of reduces. A finished task counts as
// progress 1. running is the sum of the fractions of running attempts.
func addStage(s *wire.JobStatus, stage *cluster.Stage, running float64) {
	fraction := float64(stage.Finished)
	if stage.Running > 0 {
		fraction += running
	}
	total := len(stage.Tasks)
	if stage.StartedAt != 0 && (s.StartTime == 0 || stage.StartedAt < s.StartTime) {
		s.StartTime = stage.StartedAt
	}
	if stage.Source {
		s.MapProgress = history.MeanProgress(s.MapProgress, s.Maps, fraction, total)
		s.Maps, s.MapsDone, s.MapsRunning = s.Maps+int32(total), s.MapsDone+int32(stage.Finished), s.MapsRunning+int32(stage.Running)
		return
	}
	s.ReduceProgress = history.MeanProgress(s.ReduceProgress, s.Reduces, fraction, total)
	s.Reduces, s.ReducesDone, s.ReducesRunning = s.Reduces+int32(total), s.ReducesDone+int32(stage.Finished), s.ReducesRunning+int32(stage.Running)
}

// phases returns setup, the stages and commit, up to the present phase of the job.
func phases(j *cluster.Job) []*wire.Phase {
	var out []*wire.Phase
	add := func(name string, start, finish int64) {
		if start == 0 {
			return
		}
		if finish == 0 {
			finish = j.FinishedAt
		}
		out = append(out, &wire.Phase{Name: name, StartTime: start, FinishTime: finish})
	}
	add("setup", j.SubmittedAt, j.StartedAt)
	for _, stage := range j.Stages {
		add(stage.Name, stage.StartedAt, stage.FinishedAt)
	}
	add("commit", j.CommitAt, 0)
	return out
}

// taskCounters are the counters of the tasks of one kind in a job.
type taskCounters struct {
	finished []cluster.Counter    // sums over the finished tasks
	running  []*taskproc.Progress // reports of running attempts; never changed
}

// countersByKind copies the counters of the tasks of a job. It does not visit every task.
func countersByKind(j *cluster.Job, progress map[cluster.AttemptID]*taskproc.Progress) map[taskproc.Kind]*taskCounters {
	stages, kinds := make(map[taskproc.Kind][]*cluster.Stage), make(map[string]taskproc.Kind)
	for _, s := range j.Stages {
		kinds[s.Code] = kindOf(s)
		stages[kindOf(s)] = append(stages[kindOf(s)], s)
	}
	all := make(map[taskproc.Kind]*taskCounters)
	for kind, of := range stages {
		all[kind] = &taskCounters{finished: j.Counters(of...)}
	}
	for id, p := range progress {
		c := all[kinds[id.Task.Stage]]
		c.running = append(c.running, p)
	}
	return all
}

// addTo adds the counters to sums.
func (c *taskCounters) addTo(sums counter.Values) {
	for _, f := range c.finished {
		sums.Add(counter.ID{Group: f.Group, Name: f.Name}, f.Value)
	}
	addRunning(sums, c.running)
}

// addRunning adds the counters of running attempts. There may be a hundred thousand of them, and
// nearly all have the same counters in the same order. So counter i of all attempts is added up
// without a look-up, as long as it has the name that it has in the first attempt.
func addRunning(sums counter.Values, running []*taskproc.Progress) {
	var ids []counter.ID
	var totals []int64 // parallel to ids
	var peaks []bool   // likewise
	for _, p := range running {
		for i, c := range p.Counters {
			if i == len(ids) {
				id := counter.ID{Group: c.Group, Name: c.Name}
				ids, totals, peaks = append(ids, id), append(totals, 0), append(peaks, id.IsPeak())
			}
			if ids[i].Name == c.Name && ids[i].Group == c.Group {
				totals[i] = counter.Total(totals[i], c.Value, peaks[i])
			} else {
				sums.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
			}
		}
	}
	for i, id := range ids {
		sums.Add(id, totals[i])
	}
}

// jobCounters returns the counters that the master itself keeps, under Hadoop's names. It
// leaves out counters of 0, as Hadoop does.
func jobCounters(j *cluster.Job) counter.Values {
	sums := make(counter.Values)
	add := func(id counter.ID, n int64) {
		if n != 0 {
			sums.Add(id, n)
		}
	}
	for _, s := range j.Stages {
		add(counter.PreemptRequests, int64(s.Preemption.Requested))
		add(counter.Checkpoints, int64(s.Preemption.Checkpoints))
		add(counter.CheckpointBytes, s.Preemption.CheckpointBytes)
		add(counter.CheckpointMillis, s.Preemption.CheckpointMillis)
		add(counter.WorkLostMillis, s.Preemption.LostMillis)
		add(counter.WorkKeptMillis, s.Preemption.KeptMillis)
		if s.Source {
			add(counter.LaunchedMaps, int64(s.Launched))
			add(counter.FailedMaps, int64(s.Failed))
			add(counter.KilledMaps, int64(s.Killed))
			add(counter.DataLocalMaps, int64(s.LocalStarts))
			add(counter.RackLocalMaps, int64(s.RackStarts))
			add(counter.OtherLocalMaps, int64(s.Launched-s.LocalStarts-s.RackStarts))
			add(counter.MillisMaps, s.SlotMillis)
			add(counter.SlotMillisMaps, s.SlotMillis)
			continue
		}
		add(counter.LaunchedReduces, int64(s.Launched))
		add(counter.FailedReduces, int64(s.Failed))
		add(counter.KilledReduces, int64(s.Killed))
		add(counter.MillisReduces, s.SlotMillis)
		add(counter.SlotMillisReduces, s.SlotMillis)
	}
	return sums
}

// The functions below describe the tasks of a job and their attempts.

// failures returns the latest failures of a job, as the state keeps them.
func failures(j *cluster.Job) []*wire.FailureRecord {
	var out []*wire.FailureRecord
	for _, f := range j.Failures {
		out = append(out, &wire.FailureRecord{
			Task: f.Attempt.Task.String(), Attempt: f.Attempt.String(), Machine: f.Machine, Cause: f.Cause, Stack: f.Stack,
			Input: f.Input, Offset: f.Offset, Log: f.Log, Time: f.At, Skipped: f.Skipped,
		})
	}
	return out
}

// stages returns the stages with the slots of their tasks, in the order of the graph.
func stages(j *cluster.Job) []*wire.StageStatus {
	var out []*wire.StageStatus
	reads := readsOf(j)
	for i, s := range j.Stages {
		out = append(out, &wire.StageStatus{
			Name: s.Name, Code: s.Code, Reads: reads[i], MapSlots: int32(s.Slots[cluster.MapSlot]), ReduceSlots: int32(s.Slots[cluster.ReduceSlot]), ReadyTime: j.ReadyAt(s),
		})
	}
	return out
}

// readsOf returns for each stage of a job the names of the other stages whose output it reads, in the
// order of the graph's edges.
func readsOf(j *cluster.Job) [][]string {
	stageOf := make(map[string]int) // by the name of a stage of the graph
	for i, s := range j.Stages {
		for _, n := range s.Nodes {
			stageOf[j.Spec.Graph.Stages[n].Name] = i
		}
	}
	reads := make([][]string, len(j.Stages))
	for _, e := range j.Spec.Graph.Edges {
		from, to := stageOf[e.From], stageOf[e.To]
		if name := j.Stages[from].Name; from != to && !slices.Contains(reads[to], name) {
			reads[to] = append(reads[to], name)
		}
	}
	return reads
}
