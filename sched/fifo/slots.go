package fifo

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// slots are the free slots of one kind while a plan is being made.
type slots struct {
	kind     cluster.Slot
	machines []*cluster.Machine
	free     []int // beside machines; the sum is left
	left     int
	next     int // whose turn it is to take a task that is local nowhere
}

func freeSlots(view cluster.View, kind cluster.Slot) *slots {
	s := &slots{kind: kind}
	for m := range view.MachinesWithFree(kind) {
		s.machines = append(s.machines, m)
		s.free = append(s.free, m.Free(kind))
		s.left += m.Free(kind)
	}
	return s
}

// fill gives slots to the tasks of one job that wait.
func (s *slots) fill(j *cluster.Job, plan *sched.Plan) {
	for _, stage := range j.Stages {
		if stage.Slot == s.kind && stage.Waiting() > 0 && j.Ready(stage) {
			s.fillStage(stage, plan)
		}
	}
}

func (s *slots) fillStage(stage *cluster.Stage, plan *sched.Plan) {
	taken := make(map[int]bool)
	for i, m := range s.machines {
		for _, host := range m.Hosts {
			for t := range stage.PendingOn(host) {
				if s.free[i] == 0 {
					break
				}
				s.take(i, t, true, taken, plan)
			}
		}
	}
	for t := range stage.Pending() {
		if s.left == 0 {
			return
		}
		if !taken[t.ID.Number] {
			s.take(s.turn(), t, false, taken, plan)
		}
	}
}

// take gives a slot of machine i to t, unless t has one already.
func (s *slots) take(i int, t *cluster.Task, local bool, taken map[int]bool, plan *sched.Plan) {
	if taken[t.ID.Number] {
		return
	}
	taken[t.ID.Number] = true
	s.free[i]--
	s.left--
	plan.Starts = append(plan.Starts, sched.Start{Task: t.ID, Machine: s.machines[i].Name, Local: local})
}

// turn goes around the machines that have a slot left, of which there is one.
func (s *slots) turn() int {
	for {
		i := s.next
		s.next = (s.next + 1) % len(s.machines)
		if s.free[i] > 0 {
			return i
		}
	}
}
