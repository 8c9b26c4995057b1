package jobmaster

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// fullStatus is status with the properties of the job, its stages and what became
// of each of its tasks, which costs what it has of them.
func (m *Master) fullStatus(j *cluster.Job, r *record) *wire.JobStatus {
	s := m.status(j, r)
	s.Stages, s.Tasks, s.Partitions, s.Properties = stages(j), tasks(j, r), partitions(j), r.spec.Properties
	return s
}

// status is what is known of a job now. It costs what runs, not what is
// finished.
func (m *Master) status(j *cluster.Job, r *record) *wire.JobStatus {
	s := &wire.JobStatus{
		JobId: j.ID.String(), Name: j.Spec.Name, User: j.Spec.User, State: wire.JobState(j.State),
		Queue: j.Spec.Pool, Priority: priorityName(j.Spec.Priority), SubmitHost: r.spec.SubmitHost,
		Suspended: j.Suspended, Reason: m.reason(j), Cause: j.Cause, OutputDir: j.Spec.OutputDir, LogDir: m.logDir(j.ID, r),
		SubmitTime: j.SubmittedAt, FinishTime: j.FinishedAt, InputBytes: r.bytes,
		Phases: phases(j), Counters: counters(j, r), Failures: failures(j),
		ProgressPartial: len(r.awaitingProgress) > 0 && m.now() < m.lead.since+adoptionWindow,
	}
	for _, stage := range j.Stages {
		addStage(s, stage, r)
	}
	return s
}

// addStage adds a stage's numbers to those of maps or of reduces. Progress is
// the share of finished tasks and of what running ones have done.
func addStage(s *wire.JobStatus, stage *cluster.Stage, r *record) {
	fraction := float64(stage.Finished)
	if stage.Running > 0 {
		for id, p := range r.progress {
			if id.Task.Stage == stage.Code {
				fraction += min(max(p.Fraction, 0), 1)
			}
		}
	}
	total := len(stage.Tasks)
	if stage.StartedAt != 0 && (s.StartTime == 0 || stage.StartedAt < s.StartTime) {
		s.StartTime = stage.StartedAt
	}
	if stage.Source {
		s.MapProgress = progress(s.MapProgress, s.Maps, fraction, total)
		s.Maps, s.MapsDone, s.MapsRunning = s.Maps+int32(total), s.MapsDone+int32(stage.Finished), s.MapsRunning+int32(stage.Running)
		return
	}
	s.ReduceProgress = progress(s.ReduceProgress, s.Reduces, fraction, total)
	s.Reduces, s.ReducesDone, s.ReducesRunning = s.Reduces+int32(total), s.ReducesDone+int32(stage.Finished), s.ReducesRunning+int32(stage.Running)
}

// progress is how far tasks have come that were so far before more tasks were
// counted, which have come done tasks far together. No tasks have come to their
// end.
func progress(before float64, tasks int32, done float64, more int) float64 {
	all := float64(tasks) + float64(more)
	if all == 0 {
		return 1
	}
	return min((before*float64(tasks)+done)/all, 1)
}

// phases are setup, map, reduce and commit, as far as the job has come.
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

// counters are the sums over finished tasks and running attempts, and the job's
// own.
func counters(j *cluster.Job, r *record) []*taskproc.Counter {
	sums := make(counter.Values)
	for _, c := range j.Counters() {
		sums.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
	}
	for _, p := range r.progress {
		for _, c := range p.Counters {
			sums.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
		}
	}
	addJobCounters(sums, j)
	var out []*taskproc.Counter
	for _, group := range sums.Groups() {
		for _, name := range sums.Names(group) {
			out = append(out, &taskproc.Counter{Group: group, Name: name, Value: sums[group][name]})
		}
	}
	return out
}

func addJobCounters(sums counter.Values, j *cluster.Job) {
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
}
