package jobmaster

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Every master has the state, so every master can show it. The functions here answer from the state
// of this master, whether it leads or not. A follower does not have what tasknodes report to the
// leader: the progress and the counters of running attempts.

// localRead is a query that a follower answers too.
type localRead struct{ *queryRequest }

// local is like query, on every master.
func local[T any](ctx context.Context, m *Master, f func() (T, error)) (T, error) {
	q, answer := newQuery(ctx, f)
	return call(ctx, m, localRead{q}, answer)
}

// askLocal is like ask, on every master.
func askLocal[T any](ctx context.Context, m *Master, f func() (T, error)) (T, error) {
	q, answer := newQuery(ctx, f)
	m.inbox.Put(localRead{q})
	return await(ctx, m, answer)
}

// recordOf returns the record of a job. A follower keeps none, so it makes one for this call.
func (m *Master) recordOf(j *cluster.Job) *record {
	if m.lead != nil {
		return m.record(j.ID)
	}
	return newRecord(j)
}

// reported returns the record of a job on the leader, and an empty one on a follower.
func (m *Master) reported(j *cluster.Job) *record {
	if m.lead != nil {
		return m.record(j.ID)
	}
	return new(record)
}

// LocalJob is like Job, as this master knows the job, and the status always has the properties. If the
// job has left the state, the error wraps cluster.ErrRetired.
func (m *Master) LocalJob(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	return m.jobInState(ctx, jobID, tasks, local[func() *wire.JobStatus])
}

// LocalCounters returns the counters of the tasks of a job by the type of the tasks: of finished tasks
// and, on the leader, of running attempts as they last reported. Errors are those of LocalJob.
func (m *Master) LocalCounters(ctx context.Context, jobID string) (map[string]counter.Values, error) {
	all, err := local(ctx, m, func() (map[taskproc.Kind]*taskCounters, error) {
		j, err := m.jobWithTasks(jobID)
		if err != nil {
			return nil, err
		}
		r := m.reported(j)
		if m.lead != nil {
			m.requestCounters(r) // for the next answer
		}
		return countersByKind(j, r.progress), nil
	})
	byType := make(map[string]counter.Values)
	for kind, c := range all {
		byType[kind.String()] = make(counter.Values)
		c.addTo(byType[kind.String()])
	}
	return byType, err
}

// LocalTaskCounters returns the counters of the winner of a task. Errors are those of LocalJob. If the
// task is unknown or has no winner, the error wraps cluster.ErrUnknown.
func (m *Master) LocalTaskCounters(ctx context.Context, task cluster.TaskID) (counter.Values, error) {
	return local(ctx, m, func() (counter.Values, error) {
		if _, err := m.jobWithTasks(task.Job.String()); err != nil {
			return nil, err
		}
		j, _, t, known := m.view.Task(task)
		if !known || t.Counts == nil {
			return nil, fmt.Errorf("%w: counters of %v, which has not finished", cluster.ErrUnknown, task)
		}
		sums := make(counter.Values)
		for _, c := range j.CountersOf(t) {
			sums.Add(counter.ID{Group: c.Group, Name: c.Name}, c.Value)
		}
		return sums, nil
	})
}

// LiveJobs returns what the board does not have of the jobs that are not over.
func (m *Master) LiveJobs(ctx context.Context) (map[cluster.JobID]board.Live, error) {
	return local(ctx, m, func() (map[cluster.JobID]board.Live, error) {
		jobs := make(map[cluster.JobID]board.Live)
		for j := range m.view.Jobs() {
			if j.State.Final() {
				continue
			}
			var live board.Live
			if m.lead == nil {
				live.Reason = m.reason(j, outage{})
			} else {
				r := m.record(j.ID)
				live.Reason, live.Fractions = m.reason(j, r.outage), make(map[string]float64, len(r.fractions))
				for _, s := range j.Stages {
					if s.Running > 0 {
						live.Fractions[s.Code] = r.fractions[s.Code]
					}
				}
			}
			jobs[j.ID] = live
		}
		return jobs, nil
	})
}

// LocalTasknodes describes all tasknodes, sorted by name, without what they report to the leader.
func (m *Master) LocalTasknodes(ctx context.Context) ([]apidoc.Tasknode, error) {
	copies, err := local(ctx, m, func() (copies []*copiedTasknode, err error) {
		for machine := range m.view.Machines() {
			c := &copiedTasknode{machine: *machine, state: "RUNNING"}
			switch {
			case machine.Lost:
				c.state = "LOST"
			case machine.Excluded:
				c.state = "DECOMMISSIONING"
			}
			for _, a := range machine.Attempts {
				c.attempts = append(c.attempts, a.ID)
			}
			c.machine.Attempts = nil
			copies = append(copies, c)
		}
		return copies, nil
	})
	return documents(copies), err
}
