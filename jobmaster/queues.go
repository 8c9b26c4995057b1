package jobmaster

import (
	"cmp"
	"context"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sched"
)

// Queues describes every pool that jobs may name or are in, sorted by name.
func (m *Master) Queues(ctx context.Context) (*wire.ListQueuesResponse, error) {
	return query(ctx, m, func() (*wire.ListQueuesResponse, error) {
		queues := m.countQueues()
		for _, p := range m.brain.Pools(m.now()) {
			divide(queues, p)
		}
		out := &wire.ListQueuesResponse{Policy: m.view.Policy()}
		for _, q := range queues {
			out.Queues = append(out.Queues, q)
		}
		slices.SortFunc(out.Queues, func(a, b *wire.Queue) int { return cmp.Compare(a.Name, b.Name) })
		return out, nil
	})
}

// countQueues counts, for each pool, its jobs, the slots that they use and the slots that
// they wait for. It visits the attempts that are on machines, not all attempts of the jobs.
func (m *Master) countQueues() map[string]*wire.Queue {
	queues := make(map[string]*wire.Queue)
	for _, name := range m.view.Pools() {
		queues[name] = newQueue(name, "RUNNING")
	}
	for j := range m.view.Jobs() {
		if j.State.Final() {
			continue
		}
		q := queues[j.Spec.Pool]
		if q == nil {
			q = newQueue(j.Spec.Pool, "DRAINING")
			queues[q.Name] = q
		}
		addToQueue(q, j)
	}
	for machine := range m.view.Machines() {
		for _, a := range machine.Attempts {
			if j, stage, _, known := m.view.Task(a.ID.Task); known && a.OccupiesSlot() {
				addSlots(queues[j.Spec.Pool].Running, stage.Slots)
			}
		}
	}
	return queues
}

// newQueue makes a queue without jobs. The state DRAINING is for a removed pool that still
// has jobs.
func newQueue(name, state string) *wire.Queue {
	return &wire.Queue{Name: name, State: state, Running: new(wire.Queue_Slots), Waiting: new(wire.Queue_Slots)}
}

// addToQueue counts a job that is not over. Suspended attempts have no slot and count
// as waiting, as the policy sees them.
func addToQueue(q *wire.Queue, j *cluster.Job) {
	runs := slices.ContainsFunc(j.Stages, func(s *cluster.Stage) bool { return s.Running > 0 })
	for w := range sched.Wants(j) {
		addSlots(q.Waiting, w.TotalNeed())
	}
	if runs {
		q.JobsRunning++
	} else {
		q.JobsWaiting++
	}
}

func addSlots(to *wire.Queue_Slots, slots cluster.Slots) {
	to.Map += int32(slots[cluster.MapSlot])
	to.Reduce += int32(slots[cluster.ReduceSlot])
}

// divide adds what the policy knows about a pool. If no job may name the pool, it is shown
// only while it has jobs.
func divide(queues map[string]*wire.Queue, p sched.Pool) {
	q := queues[p.Name]
	if q == nil {
		return
	}
	q.HasShares, q.Weight, q.Order, q.JobsNotRunnable = true, p.Weight, p.Order, int32(p.QueuedJobs)
	q.Min = &wire.Queue_Slots{Map: int32(p.Min[0]), Reduce: int32(p.Min[1])}
	q.Max = &wire.Queue_Slots{Map: limit(p.Max[0]), Reduce: limit(p.Max[1])}
	q.MaxJobs, q.MapShare, q.ReduceShare = limit(p.MaxJobs), p.Share[0], p.Share[1]
}

// limit converts a maximum; -1 means no limit.
func limit(most int) int32 {
	if most == sched.Unlimited {
		return -1
	}
	return int32(most)
}
