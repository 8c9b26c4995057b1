package cluster

import (
	"fmt"
	"iter"

	"github.com/hammr/hammr/dag"
)

// Stage is one stage of a job with its tasks and the indexes over them.
type Stage struct {
	Name   string
	Code   string // in ids: "m", "r" or "s<index>"
	Index  int    // in Job.Stages
	Slot   Slot
	Source bool // it reads splits
	Sink   bool // no stage reads it: its output is the job's
	Writes bool // its tasks write files of the job's output beside what other stages read
	Tasks  []*Task

	Finished int // tasks that have succeeded; at most len(Tasks)
	Running  int // tasks with a running attempt; at most len(Tasks) - Finished

	StartedAt  int64 // of the first attempt
	FinishedAt int64 // when the last task succeeded; 0 while one has not

	Launched    int   // attempts started
	LocalStarts int   // attempts started where their split lies
	RackStarts  int   // attempts started elsewhere in the rack of their split
	Failed      int   // attempts failed
	Killed      int   // attempts killed, lost or preempted
	SlotMillis  int64 // time attempts held a slot, over those that have left it

	upstream []int                 // stages it reads, in order of edges
	pending  numberSet             // tasks to be started
	byHost   map[string]*numberSet // of pending, by host of their split; filled when splits are loaded
}

func newStages(g dag.Graph) []*Stage {
	stages := make([]*Stage, len(g.Stages))
	for i, s := range g.Stages {
		stages[i] = &Stage{
			Name: s.Name, Code: stageCode(s.Name, i), Index: i,
			Source: g.IsSource(s.Name), Sink: true, byHost: make(map[string]*numberSet),
		}
		if g.SlotsOf(s.Name) == dag.SlotReduce {
			stages[i].Slot = ReduceSlot
		}
	}
	for _, e := range g.Edges {
		from, to := g.StageIndex(e.From), g.StageIndex(e.To)
		stages[from].Sink = false
		stages[to].upstream = append(stages[to].upstream, from)
	}
	return stages
}

func stageCode(name string, index int) string {
	switch name {
	case "map":
		return "m"
	case "reduce":
		return "r"
	}
	return fmt.Sprintf("s%d", index)
}

// Ready reports whether tasks of the stage may start: enough of each stage that
// it reads is finished.
func (j *Job) Ready(s *Stage) bool {
	if j.State != JobRunning {
		return false
	}
	for _, up := range s.upstream {
		u := j.Stages[up]
		if u.Finished*1_000_000 < j.Spec.SlowStartPPM*len(u.Tasks) {
			return false
		}
	}
	return true
}

// Vital reports whether the job's output holds what the stage's tasks write, so
// that the job is done only when all of them are.
func (s *Stage) Vital() bool { return s.Sink || s.Writes }

// Waiting is how many tasks of the stage are to be started.
func (s *Stage) Waiting() int { return s.pending.count }

// Pending yields the tasks to be started, in order of number.
func (s *Stage) Pending() iter.Seq[*Task] { return s.tasks(&s.pending) }

// Located reports whether some split of the stage says where it lies. None does
// before the splits are loaded.
func (s *Stage) Located() bool { return len(s.byHost) > 0 }

// PendingOn yields the tasks to be started whose split lies on host, in order
// of number. There are none before the splits are loaded.
func (s *Stage) PendingOn(host string) iter.Seq[*Task] { return s.tasks(s.byHost[host]) }

func (s *Stage) tasks(set *numberSet) iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		for n := range set.all() {
			if !yield(s.Tasks[n]) {
				return
			}
		}
	}
}
