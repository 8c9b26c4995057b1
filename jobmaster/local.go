package jobmaster

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster/board"
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

// recordOf returns the record of a job. A follower keeps none, so it makes one for this call.
func (m *Master) recordOf(j *cluster.Job) *record {
	if m.lead != nil {
		return m.record(j.ID)
	}
	return newRecord(j)
}

// LocalJob returns the status of a job as this master knows it, with the properties of the job. It
// has tasks only if the job has left the state, so that it comes from its history. If the job is
// unknown, the error wraps cluster.ErrUnknown.
func (m *Master) LocalJob(ctx context.Context, jobID string) (*wire.JobStatus, error) {
	status, err := local(ctx, m, func() (func() *wire.JobStatus, error) {
		j, err := m.jobWithTasks(jobID)
		if err != nil {
			return nil, err
		}
		r := m.recordOf(j)
		if m.lead != nil {
			m.requestCounters(r) // for the next status
		}
		status, properties := m.status(j, r), r.spec.Properties // never changed
		return func() *wire.JobStatus {
			s := status()
			s.Properties = properties
			return s
		}, nil
	})
	if id, wrong := cluster.ParseJobID(jobID); wrong == nil && errors.Is(err, cluster.ErrRetired) {
		return m.readHistory(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return status(), nil
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
func (m *Master) LocalTasknodes(ctx context.Context) ([]*wire.Tasknode, error) {
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
	var nodes []*wire.Tasknode
	for _, c := range copies {
		nodes = append(nodes, c.message())
	}
	slices.SortFunc(nodes, func(a, b *wire.Tasknode) int { return strings.Compare(a.Name, b.Name) })
	return nodes, err
}
