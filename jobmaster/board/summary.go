package board

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Quantiles describes a number over the finished tasks of a group. A quantile is the value of a
// task: the smallest that is at least as large as that part of all values.
type Quantiles struct {
	Min int64 `json:"min"`
	P5  int64 `json:"p5"`
	P25 int64 `json:"p25"`
	P50 int64 `json:"p50"`
	P75 int64 `json:"p75"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// quantilesOf sorts values, of which there is at least one.
func quantilesOf(values []int64) Quantiles {
	slices.Sort(values)
	at := func(percent int) int64 { return values[max((len(values)*percent+99)/100, 1)-1] }
	return Quantiles{values[0], at(5), at(25), at(50), at(75), at(95), at(99), values[len(values)-1]}
}

// Group is a group of finished tasks of a stage: all of them, or those of one machine.
type Group struct {
	Stage    string    `json:"stage"`             // its code
	Machine  string    `json:"machine,omitempty"` // of the winners; "" for all
	Tasks    int       `json:"tasks"`             // finished; at least 1
	Duration Quantiles `json:"duration"`          // time for which the winner had its slot, ms
	Bytes    Quantiles `json:"bytes"`
	Records  Quantiles `json:"records"`
	In       Quantiles `json:"in"`
	Spilled  Quantiles `json:"spilled"`
}

// Summary describes the finished tasks of a job: a group for each stage or, if byMachine is set,
// for each stage and machine, in the order of stages and names. It is empty for an archived job.
// The error wraps cluster.ErrUnknown.
func (s *Snapshot) Summary(id cluster.JobID, byMachine bool) ([]Group, error) {
	j := s.Job(id)
	if j == nil {
		return nil, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	}
	var groups []Group
	for i := range j.Stages {
		groups = append(groups, s.groups(j, i, byMachine)...)
	}
	return groups, nil
}

// groups describes the finished tasks of a stage.
func (s *Snapshot) groups(j *Job, stage int, byMachine bool) (groups []Group) {
	members := make(map[uint32][]shownTask) // by machine
	for n := range j.tasks[stage].end() {
		t := s.shown(j, stage, n)
		if t.winner == 0 {
			continue
		}
		var machine uint32 // that of no name: all
		if byMachine {
			machine = t.attempt.machine
		}
		members[machine] = append(members[machine], t)
	}
	for machine, tasks := range members {
		values := make([]int64, len(tasks))
		over := func(of func(t shownTask) int64) Quantiles {
			for i, t := range tasks {
				values[i] = of(t)
			}
			return quantilesOf(values)
		}
		groups = append(groups, Group{
			Stage: j.Stages[stage].Code, Machine: s.names[machine], Tasks: len(tasks),
			Duration: over(func(t shownTask) int64 { return t.duration(0) }),
			Bytes:    over(func(t shownTask) int64 { return t.bytes }), Records: over(func(t shownTask) int64 { return t.records }),
			In: over(func(t shownTask) int64 { return t.in }), Spilled: over(func(t shownTask) int64 { return t.spilled }),
		})
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Machine, b.Machine) })
	return groups
}
