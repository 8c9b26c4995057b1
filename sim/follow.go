package sim

import "github.com/hammr/hammr/cluster"

// observe notes what a command is about to cost.
func (b *body) observe(c cluster.Command) {
	switch c := c.(type) {
	case cluster.KillAttempt:
		if j, known := b.preempted(c.Attempt); known != nil {
			j.preemptions++
			j.lost += b.now - known.StartedAt
		}
	case cluster.PauseAttempt:
		if j, known := b.preempted(c.Attempt); known != nil {
			j.preemptions++
			j.conserved += b.now - known.StartedAt
		}
	}
}

func (b *body) preempted(id cluster.AttemptID) (*job, *cluster.Attempt) {
	_, _, a, ok := b.view.Attempt(id)
	if !ok || a.State != cluster.AttemptRunning || a.Pausing {
		return nil, nil
	}
	return b.jobs[id.Task.Job], a
}

// follow notes what a change of the state means for the world.
func (b *body) follow(delta cluster.Delta) {
	if delta.Submitted != (cluster.JobID{}) {
		j := b.order[len(b.jobs)] // they are submitted in this order
		j.id, j.done, j.local = delta.Submitted, make(map[cluster.TaskID]int64), make(map[cluster.AttemptID]bool)
		b.jobs[j.id] = j
	}
	for _, id := range delta.Published {
		if isMap(id) && b.view.Job(id.Task.Job).Stages[0].Complete() {
			b.copyOn(b.jobs[id.Task.Job])
		}
	}
	for _, id := range delta.Revoked {
		if isMap(id) {
			b.copyOn(b.jobs[id.Task.Job])
		}
	}
	for _, id := range delta.Jobs {
		if j := b.jobs[id]; !j.over && b.view.Job(id).State.Final() {
			j.over = true
			b.left--
		}
	}
}
