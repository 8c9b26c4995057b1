package control

import (
	"errors"
	"testing"

	"github.com/hammr/hammr/cluster"
)

// TestChangesOfAJobThatRetiresInTheSameBatch sets the priority of a job in batches in which the
// job also ends and retires. A change of a job that is over is refused, and later events are
// handled.
func TestChangesOfAJobThatRetiresInTheSameBatch(t *testing.T) {
	id := cluster.JobID{Cluster: "1", Number: 1}
	priority, retire := cluster.SetPriority{Job: id, Priority: 2}, cluster.RetireJob{Job: id}
	end := []cluster.Command{cluster.KillJob{Job: id, Cause: "x"}, cluster.CloseJob{Job: id}}
	for name, c := range map[string]struct {
		before, batch []cluster.Command
		want          []error // of the batch
	}{
		"over and not retired": {end, []cluster.Command{priority, retire}, []error{cluster.ErrRefused, nil}},
		"retired before":       {end, []cluster.Command{retire, priority}, []error{nil, cluster.ErrRetired}},
		"ends later":           {nil, []cluster.Command{priority, end[0], end[1], retire}, []error{nil, nil, nil, nil}},
		"ends before":          {nil, []cluster.Command{end[0], end[1], priority, retire, priority}, []error{nil, nil, cluster.ErrRefused, nil, cluster.ErrRetired}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.brain.Trace(true)
			for _, line := range [][]string{{"join", "n1", "1", "0"}, {"submit", "1", "0"}, {"submit", "1", "0"}} {
				s.run(s.event(line))
			}
			for _, command := range c.before {
				s.run([]Event{Requested{Command: command}})
			}
			var events []Event
			for _, command := range c.batch {
				events = append(events, Requested{Command: command})
			}
			out := s.brain.Step(s.now, events)
			applied := s.apply(out.Commands).(Applied)
			for i, r := range applied.Results {
				if !errors.Is(r.Err, c.want[i]) || (r.Err == nil) != (c.want[i] == nil) {
					t.Errorf("%+v: %v, want %v", r.Entry.Command, r.Err, c.want[i])
				}
			}
			s.run([]Event{applied})
			if j := s.state.View().Job(id); j != nil {
				t.Errorf("the job is %v", j.State)
			}
			s.run(s.event([]string{"load", "2"}))
			if other := s.state.View().Job(s.job("2")); other.Occupied != 1 {
				t.Errorf("the other job is %v, with %d attempts", other.State, other.Occupied)
			}
		})
	}
}
