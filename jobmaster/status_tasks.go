package jobmaster

import (
	"context"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// A job may have hundreds of thousands of tasks. A status with all of them is made in chunks:
// the loop copies some tasks for each message, and handles other messages between them. The
// caller converts the copies.
//
//	caller   ask ── convert ── ask ── convert ── …
//	loop        copy          copy
//
// So the tasks of a running job are from slightly different moments. A job that is over does
// not change.

// chunkTasks is how many tasks the loop copies for one message; it takes less than a
// millisecond.
const chunkTasks = 1000

// taskChunk is a part of the tasks of a job.
type taskChunk struct {
	stage int // index in Job.Stages
	first int // number of the first task
}

// taskChunks divides the tasks of a job, in order of stages and numbers.
func taskChunks(j *cluster.Job) (chunks []taskChunk) {
	for i, stage := range j.Stages {
		for first := 0; first < len(stage.Tasks); first += chunkTasks {
			chunks = append(chunks, taskChunk{i, first})
		}
	}
	return chunks
}

// copiedTasks is a copy of a chunk.
type copiedTasks struct {
	stage    *cluster.Stage // only its fixed fields may be read
	tasks    []copiedTask
	attempts []copiedAttempt       // of all tasks, in order
	names    []cluster.CounterName // of the counts of tasks
}

type copiedTask struct {
	id             cluster.TaskID
	state          cluster.TaskState
	attempts       int     // number of its attempts
	bytes, records int64   // of its partition, if the stage is a sink
	counts         []int64 // counters of its winner, parallel to the names; never changed
}

type copiedAttempt struct {
	cluster.Attempt
	shuffleDone int64 // when it had all its input, ms since the epoch; 0 if unknown
}

// copyTasks copies a chunk.
func (c taskChunk) copyTasks(j *cluster.Job, r *record) *copiedTasks {
	stage := j.Stages[c.stage]
	tasks := stage.Tasks[c.first:min(c.first+chunkTasks, len(stage.Tasks))]
	out := &copiedTasks{stage: stage, names: j.CounterNames, tasks: make([]copiedTask, 0, len(tasks)), attempts: make([]copiedAttempt, 0, len(tasks))}
	for _, t := range tasks {
		task := copiedTask{id: t.ID, state: t.State, attempts: len(t.Attempts), counts: t.Counts}
		if stage.Sink {
			task.bytes, task.records = partitionOf(j, stage, t)
		}
		out.tasks = append(out.tasks, task)
		for _, a := range t.Attempts {
			attempt := copiedAttempt{Attempt: *a}
			if len(r.shuffleDone) > 0 {
				attempt.shuffleDone = r.shuffleDone[a.ID]
			}
			out.attempts = append(out.attempts, attempt)
		}
	}
	return out
}

// addTo adds the tasks with all of their attempts to a status, and their partitions. A status
// contains a task that was split, and also the tasks that were made from it.
func (c *copiedTasks) addTo(s *wire.JobStatus) {
	for _, name := range c.names[len(s.CounterNames):] { // names are only ever appended
		s.CounterNames = append(s.CounterNames, &wire.CounterName{Group: name.Group, Name: name.Name})
	}
	attempts := c.attempts
	for _, t := range c.tasks {
		status := &wire.TaskStatus{Id: t.id.String(), Kind: kindOf(c.stage), State: wire.TaskState(t.state), Counts: t.counts}
		for i := range attempts[:t.attempts] {
			status.Attempts = append(status.Attempts, attemptStatus(&attempts[i]))
		}
		attempts = attempts[t.attempts:]
		s.Tasks = append(s.Tasks, status)
		if c.stage.Sink {
			s.Partitions = append(s.Partitions, &wire.Partition{Partition: int32(t.id.Number), Bytes: t.bytes, Records: t.records})
		}
	}
}

func attemptStatus(a *copiedAttempt) *wire.TaskStatus_Attempt {
	return &wire.TaskStatus_Attempt{
		Id: a.ID.String(), Machine: a.Machine, State: wire.AttemptState(a.Status()), StartTime: a.StartedAt, FinishTime: a.EndedAt,
		ShuffleFinishTime: a.shuffleDone, WorkLost: a.WorkLost(), Suspended: a.InMemory(), Preempting: a.Preempting(),
		Cause: a.Cause, SuspendedMillis: a.SuspendedUntilEnd(),
	}
}

// partitionOf returns the bytes and records of the input of a reduce task or, in a job
// without reduces, of the output of a map task; 0 while it has not finished.
func partitionOf(j *cluster.Job, stage *cluster.Stage, t *cluster.Task) (bytes, records int64) {
	switch {
	case t.Output == nil:
		return 0, 0
	case stage.Source:
		return t.Output.Bytes, t.Output.Records
	}
	return counterOf(j, t, counter.ReduceShuffleBytes), counterOf(j, t, counter.ReduceInputRecords)
}

// counterOf returns one counter of a finished task, 0 if the task does not have it.
func counterOf(j *cluster.Job, t *cluster.Task, id counter.ID) int64 {
	return j.CounterOf(t, cluster.CounterName(id))
}

// askTasks adds the stages, tasks, partitions and properties of a job to its status. Its
// messages are not refused as those of clients are, because it would start over each time. Few
// goroutines call it at once: maxLargeAnswers for clients, archiveParallelism for histories.
func (m *Master) askTasks(ctx context.Context, jobID string, s *wire.JobStatus) error {
	layout, err := askLocal(ctx, m, func() (*taskLayout, error) {
		j, err := m.jobWithTasks(jobID)
		if err != nil {
			return nil, err
		}
		r := m.recordOf(j)
		layout := &taskLayout{stages(j), r.spec.Properties, taskChunks(j), r.waits.job.message(m.now()), m.waitsSince(j)}
		for i := range r.waits.stages {
			layout.stages[i].Waits = r.waits.stages[i].message(m.now())
		}
		return layout, nil
	})
	if err != nil {
		return err
	}
	s.Stages, s.Properties, s.Waits, s.WaitsSince = layout.stages, layout.properties, layout.waits, layout.waitsSince
	for _, c := range layout.chunks {
		copied, err := askLocal(ctx, m, func() (*copiedTasks, error) {
			j, err := m.jobWithTasks(jobID)
			if err != nil {
				return nil, err
			}
			return c.copyTasks(j, m.reported(j)), nil
		})
		if err != nil {
			return err
		}
		copied.addTo(s)
	}
	return nil
}

// taskLayout is what a status with tasks needs before its tasks.
type taskLayout struct {
	stages     []*wire.StageStatus
	properties map[string]string // never changed
	chunks     []taskChunk
	waits      []*wire.WaitTime
	waitsSince int64
}
