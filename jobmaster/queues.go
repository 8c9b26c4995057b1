package jobmaster

import (
	"cmp"
	"context"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/sched"
)

// Queues describes every pool that jobs may name or are in, sorted by name.
func (m *Master) Queues(ctx context.Context) ([]apidoc.Queue, error) {
	return query(ctx, m, func() ([]apidoc.Queue, error) {
		queues := m.countQueues()
		for _, p := range m.brain.Pools(m.now()) {
			divide(queues, p)
		}
		out := make([]apidoc.Queue, 0, len(queues))
		for _, q := range queues {
			out = append(out, *q)
		}
		slices.SortFunc(out, func(a, b apidoc.Queue) int { return cmp.Compare(a.Name, b.Name) })
		apidoc.SetParents(out)
		return out, nil
	})
}

// countQueues counts, for each pool, its jobs, the slots that they use and the slots that
// they wait for. It visits the attempts that are on machines, not all attempts of the jobs.
func (m *Master) countQueues() map[string]*apidoc.Queue {
	queues := make(map[string]*apidoc.Queue)
	for _, name := range m.view.Pools() {
		queues[name] = &apidoc.Queue{Name: name, State: "RUNNING"}
	}
	for j := range m.view.Jobs() {
		if j.State.Final() {
			continue
		}
		q := queues[j.Spec.Pool]
		if q == nil {
			q = &apidoc.Queue{Name: j.Spec.Pool, State: "DRAINING"} // the pool was removed
			if m.takesJobs(q.Name, j.Spec.User) {
				q.State = "RUNNING"
			}
			queues[q.Name] = q
		}
		addToQueue(q, j)
	}
	for machine := range m.view.Machines() {
		for _, a := range machine.Attempts {
			if j, stage, _, known := m.view.Task(a.ID.Task); known && a.OccupiesSlot() {
				addSlots(&queues[j.Spec.Pool].Running, stage.Slots)
			}
		}
	}
	return queues
}

// addToQueue counts a job that is not over. Suspended attempts have no slot and count
// as waiting, as the policy sees them.
func addToQueue(q *apidoc.Queue, j *cluster.Job) {
	runs := slices.ContainsFunc(j.Stages, func(s *cluster.Stage) bool { return s.Running > 0 })
	for w := range sched.Wants(j) {
		addSlots(&q.Waiting, w.TotalNeed())
	}
	if runs {
		q.Jobs.Running++
	} else {
		q.Jobs.Waiting++
	}
}

func addSlots(to *apidoc.Slots, slots cluster.Slots) {
	to.Map += int32(slots[cluster.MapSlot])
	to.Reduce += int32(slots[cluster.ReduceSlot])
}

// divide adds what the policy knows about a pool. If no job may name the pool, it is shown
// only while it has jobs.
func divide(queues map[string]*apidoc.Queue, p sched.Pool) {
	q := queues[p.Name]
	if q == nil {
		return
	}
	q.Allotment = &apidoc.Allotment{
		Order: p.Order, Weight: p.Weight, MaxJobs: limit(p.MaxJobs), WaitJobs: int32(p.QueuedJobs), Share: apidoc.Share{Map: p.Share[0], Reduce: p.Share[1]},
		Min: apidoc.Slots{Map: int32(p.Min[0]), Reduce: int32(p.Min[1])}, Max: apidoc.Slots{Map: limit(p.Max[0]), Reduce: limit(p.Max[1])},
	}
}

// limit converts a maximum; -1 means no limit.
func limit(most int) int32 {
	if most == sched.Unlimited {
		return -1
	}
	return int32(most)
}
