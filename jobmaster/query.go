package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
)

// queryRequest runs a function in the loop while the master leads.
type queryRequest struct {
	run  func()
	fail func(error)
}

func (q *queryRequest) handle(*Master) { q.run() }

func (q *queryRequest) refuse(err error) { q.fail(err) }

// query runs f in the loop and returns its result. f must not wait.
//
// The result must not share memory with the state, because the caller reads it while the
// loop continues. Ids, and messages that f makes for the caller, share none.
func query[T any](ctx context.Context, m *Master, f func() (T, error)) (T, error) {
	answer := make(chan result[T], 1)
	return call(ctx, m, &queryRequest{
		run:  func() { v, err := f(); answer <- result[T]{v, err} },
		fail: func(err error) { answer <- result[T]{err: err} },
	}, answer)
}

// Jobs returns the status of every job in order of submission. Unless all is set, it leaves
// out jobs that are over. A status has no tasks, failures, partitions and properties.
func (m *Master) Jobs(ctx context.Context, all bool) ([]*wire.JobStatus, error) {
	return query(ctx, m, func() ([]*wire.JobStatus, error) {
		var out []*wire.JobStatus
		for j := range m.view.Jobs() {
			if j.State.Final() && !all {
				continue
			}
			s := m.status(j, m.record(j.ID))
			s.Failures = nil
			out = append(out, s)
		}
		return out, nil
	})
}

// Job returns the status of one job. The status of a retired job comes from its history.
// Stages, tasks, partitions and properties are included only if tasks is set. If the job is
// unknown, the error wraps cluster.ErrUnknown.
func (m *Master) Job(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	s, err := m.jobInState(ctx, jobID, tasks)
	id, wrong := cluster.ParseJobID(jobID)
	if wrong != nil || !errors.Is(err, cluster.ErrRetired) {
		return s, err
	}
	if s, err = m.readHistory(ctx, id); err == nil && !tasks {
		s.Stages, s.Tasks, s.Partitions, s.Properties = nil, nil, nil, nil
	}
	return s, err
}

// jobInState returns the status of a job that is in the state. If the job is retired, the
// error wraps cluster.ErrRetired.
func (m *Master) jobInState(ctx context.Context, jobID string, tasks bool) (*wire.JobStatus, error) {
	return query(ctx, m, func() (*wire.JobStatus, error) {
		j, err := m.jobNamed(jobID)
		if err != nil {
			return nil, err
		}
		if tasks {
			return m.fullStatus(j, m.record(j.ID)), nil
		}
		return m.status(j, m.record(j.ID)), nil
	})
}

// jobNamed calls jobOf with the parsed id. A job with a malformed id is unknown.
func (m *Master) jobNamed(jobID string) (*cluster.Job, error) {
	id, err := cluster.ParseJobID(jobID)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrUnknown, err)
	}
	return m.jobOf(id)
}

// jobOf returns the job with an id. If the job is not in the state, the error wraps
// cluster.ErrRetired or cluster.ErrUnknown.
func (m *Master) jobOf(id cluster.JobID) (*cluster.Job, error) {
	if j := m.view.Job(id); j != nil {
		return j, nil
	}
	if m.view.Retired(id) {
		return nil, fmt.Errorf("%w: %v", cluster.ErrRetired, id)
	}
	return nil, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
}

// Tasknodes describes every tasknode, sorted by name. Unless all is set, it leaves out lost
// tasknodes.
func (m *Master) Tasknodes(ctx context.Context, all bool) ([]*wire.Tasknode, error) {
	return query(ctx, m, func() ([]*wire.Tasknode, error) {
		var out []*wire.Tasknode
		for machine := range m.view.Machines() {
			if all || !machine.Lost {
				out = append(out, m.tasknodeStatus(machine))
			}
		}
		slices.SortFunc(out, func(a, b *wire.Tasknode) int { return strings.Compare(a.Name, b.Name) })
		return out, nil
	})
}

// tasknodeStatus describes a tasknode. The state says what it is used for, and the record
// has its latest report about itself. Outputs and checkpoints are listed only if the
// tasknode is excluded from new tasks, because listing them needs a search of all jobs.
func (m *Master) tasknodeStatus(machine *cluster.Machine) *wire.Tasknode {
	n := m.tasknode(machine.Name)
	s := &wire.Tasknode{
		Name: machine.Name, State: m.tasknodeState(machine, n), Address: machine.Address, Http: machine.HTTP, Rack: machine.Rack, Hosts: machine.Hosts,
		MapSlots: int32(machine.Offered[cluster.MapSlot]), ReduceSlots: int32(machine.Offered[cluster.ReduceSlot]),
		MapsRunning: int32(machine.Used[cluster.MapSlot]), ReducesRunning: int32(machine.Used[cluster.ReduceSlot]),
		MemoryMb: machine.MemoryMB, MemoryUsedMb: machine.UsedMemoryMB,
		LastHeartbeat: n.lastSeen, Directories: n.heartbeat.GetDirectories(), Load: n.heartbeat.GetLoad(), ClockSkew: n.skew,
		Draining: machine.Draining, Lost: machine.Lost,
	}
	for _, a := range machine.Attempts {
		s.Attempts = append(s.Attempts, a.ID.String())
	}
	if machine.Excluded {
		outputs, checkpoints := m.neededData(machine)
		for _, t := range outputs {
			s.Outputs = append(s.Outputs, t.Winner.ID.String())
		}
		for _, id := range checkpoints {
			s.Checkpoints = append(s.Checkpoints, id.String())
		}
	}
	return s
}

// tasknodeState returns the state of a tasknode in YARN's terms. SILENT means that its
// connection is lost but the tasknode is not lost yet.
func (m *Master) tasknodeState(machine *cluster.Machine, n *tasknodeRecord) string {
	switch {
	case machine.Excluded && !machine.Lost && m.hasWork(machine):
		return "DECOMMISSIONING"
	case machine.Excluded:
		return "DECOMMISSIONED"
	case machine.Lost:
		return "LOST"
	case n.attachment == nil:
		return "SILENT"
	}
	return "RUNNING"
}
