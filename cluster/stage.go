package cluster

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// Stage is the NodeGroups of a job that are alike, which are its tasks: a stage
// of its graph, or several whose Nodes share processes; with the indexes over
// them.
type Stage struct {
	Name            string          // of the graph's stages, joined by +
	Code            string          // in ids: "m", "r" or "s<index>"
	Index           int             // in Job.Stages and in the Groups of the layout
	Nodes           []int           // places of its stages in the graph, ascending
	Slots           [slotKinds]int  // that a task takes
	Slot            Slot            // the only kind of them; ReduceSlot if there are both
	Bundle          *Bundle         // class of the bundles that its tasks are in
	Source          bool            // it reads splits
	Sink            bool            // what some of its Nodes write is read by nobody: it is the job's output
	Stored          bool            // what it writes for other stages does not lie on its machines
	WritesFiles     bool            // its tasks write files of the job's output beside what other stages read
	DisallowedModes preempt.ModeSet // in which its tasks do not give up their slots
	Tasks           []*Task

	Finished int // tasks that have succeeded; at most len(Tasks)
	Running  int // tasks with a running attempt; at most len(Tasks) - Finished

	StartedAt  int64 // of the first attempt
	FinishedAt int64 // when the last task succeeded; 0 while one has not

	Launched    int   // attempts started
	LocalStarts int   // attempts started where their split lies
	RackStarts  int   // attempts started elsewhere in the rack of their split
	Failed      int   // attempts failed
	Killed      int   // attempts killed or lost; Taken counts those that made room
	SlotMillis  int64 // time attempts held a slot, over those that have left it
	Preemption  PreemptionStats

	combineSets         []combineSet          // of the per-machine edges that it reads, in order of edges
	upstream            []upstream            // stages whose files it reads, in order of edges
	pending             numberSet             // tasks to be started
	lostUnneeded        numberSet             // finished tasks whose output is lost, and that nobody needs
	suspended           []*Attempt            // that run and stand still, in order of start
	jobSuspended        bool                  // its job is suspended: nobody is to see what waits
	byHost              map[string]*numberSet // of pending, by host of their split; filled when splits are loaded
	byCheckpointMachine map[string]*numberSet // of pending, by Home; no set is empty
}

// upstream is a stage that another reads along an edge.
type upstream struct {
	stage *Stage
	edge  int  // place in the graph's edges
	whole bool // the reader starts only when all of it is finished
}

func newStages(g dag.Graph, layout *dag.Layout) []*Stage {
	stages := make([]*Stage, len(layout.Groups))
	classOf := make(map[string]*Stage)
	for i, class := range layout.Groups {
		s := &Stage{
			Index: i, Nodes: class.Stages, byHost: make(map[string]*numberSet), byCheckpointMachine: make(map[string]*numberSet),
			Slots: [slotKinds]int{MapSlot: class.Slots.Map, ReduceSlot: class.Slots.Reduce},
		}
		var names []string
		for _, n := range class.Stages {
			names = append(names, g.Stages[n].Name)
			classOf[g.Stages[n].Name] = s
			s.Source = s.Source || g.IsSource(g.Stages[n].Name)
			s.Sink = s.Sink || g.IsSink(g.Stages[n].Name)
		}
		s.Stored = true
		s.Name = strings.Join(names, "+")
		s.Code = stageCode(s.Name, i)
		if s.Slots[ReduceSlot] > 0 || s.Slots[MapSlot] == 0 && g.SlotsOf(names[0]) == dag.SlotReduce {
			s.Slot = ReduceSlot
		}
		stages[i] = s
	}
	for i, e := range g.Edges {
		from, to := classOf[e.From], classOf[e.To]
		if e.Channel == dag.ChannelFile {
			from.Stored = from.Stored && e.Stored
			to.upstream = append(to.upstream, upstream{from, i, e.Connection == dag.PerMachine || !mayStartEarly(layout, from, to)})
		}
		if e.Connection == dag.PerMachine {
			to.combineSets = append(to.combineSets, combineSet{Edge: i})
		}
	}
	return stages
}

// mayStartEarly reports whether readers may hold slots before all is written that they read.
// Only those do that take reduce slots alone, and for writers that take map slots alone:
// then nobody who holds a map slot waits for others, so that all map slots come free
// again, and with them all that is waited for in reduce slots.
func mayStartEarly(layout *dag.Layout, from, to *Stage) bool {
	writer := layout.Bundles[layout.Groups[from.Index].Bundle].Slots
	reader := layout.Bundles[layout.Groups[to.Index].Bundle].Slots
	return writer.Reduce == 0 && reader.Map == 0
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

// Ready reports whether tasks of the stage may start: all that they read is written or,
// where they may start early, enough of it, and nothing keeps the rest from being
// written but slots. None may while the job is suspended.
func (j *Job) Ready(s *Stage) bool {
	if j.State != JobRunning || j.Suspended {
		return false
	}
	for _, up := range s.upstream {
		if !up.stage.Complete() && (up.whole || up.stage.Finished < j.SlowStartTasks(up.stage) || !up.stage.Bundle.InputsComplete()) {
			return false
		}
	}
	return true
}

// SlowStartTasks is how many tasks of a stage have to finish before those that read what it
// writes to files may start.
func (j *Job) SlowStartTasks(s *Stage) int {
	return (j.Spec.SlowStartPPM*len(s.Tasks) + 999_999) / 1_000_000
}

// EdgeComplete reports whether all that is to be written for an edge that is a
// file has been, and counts.
func (j *Job) EdgeComplete(edge int) bool {
	return j.StageOf(j.Spec.Graph.Edges[edge].From).Complete()
}

// Complete reports whether all of the stage's tasks have finished and what they
// wrote counts: so have all others of their bundles.
func (s *Stage) Complete() bool {
	return !slices.ContainsFunc(s.Bundle.Stages, func(mate *Stage) bool { return mate.Finished < len(mate.Tasks) })
}

// StageOf is the stage that a stage of the graph is part of; nil when the graph
// has none of that name.
func (j *Job) StageOf(name string) *Stage {
	n := j.Spec.Graph.StageIndex(name)
	for _, s := range j.Stages {
		if slices.Contains(s.Nodes, n) {
			return s
		}
	}
	return nil
}

// StartsAlone reports whether a task of the stage starts by itself, in one slot. Tasks
// of others start by StartBundle.
func (s *Stage) StartsAlone() bool {
	return s.Slots[MapSlot]+s.Slots[ReduceSlot] == 1 && !s.Bundle.Gang
}

// RequiredForCommit reports whether the job's output holds what the stage's tasks write, so
// that the job is done only when all of them are.
func (s *Stage) RequiredForCommit() bool { return s.Sink || s.WritesFiles }

// Upstream yields the stages whose files the stage reads, in order of edges.
func (s *Stage) Upstream() iter.Seq[*Stage] {
	return func(yield func(*Stage) bool) {
		for _, up := range s.upstream {
			if !yield(up.stage) {
				return
			}
		}
	}
}

// Waiting is how many tasks of the stage wait for a slot: those to be started,
// but none while the job is suspended. So whoever gives out slots need not know
// that it is.
func (s *Stage) Waiting() int {
	if s.jobSuspended {
		return 0
	}
	return s.pending.count
}

// ToStart is how many tasks of the stage are to be started, now or once the job is
// not suspended any more.
func (s *Stage) ToStart() int { return s.pending.count }

// Pending yields the tasks to be started, in order of number.
func (s *Stage) Pending() iter.Seq[*Task] { return s.tasks(&s.pending) }

// Suspended are the attempts that wait for a slot on the machine that they are
// on, those that began first before others; none while the job is suspended. It is
// not to be changed.
func (s *Stage) Suspended() []*Attempt {
	if s.jobSuspended {
		return nil
	}
	return s.suspended
}

// SuspendedCount is how many attempts of the stage are suspended, whether they wait
// for a slot or their job is suspended too.
func (s *Stage) SuspendedCount() int { return len(s.suspended) }

// Located reports whether some split of the stage says where it lies. None does
// before the splits are loaded.
func (s *Stage) Located() bool { return len(s.byHost) > 0 }

// PendingOn yields the tasks to be started whose split lies on host, in order
// of number. There are none before the splits are loaded.
func (s *Stage) PendingOn(host string) iter.Seq[*Task] { return s.tasks(s.byHost[host]) }

// CheckpointedOn yields the tasks to be started that go on from what a machine has, in
// order of number.
func (s *Stage) CheckpointedOn(machine string) iter.Seq[*Task] {
	return s.tasks(s.byCheckpointMachine[machine])
}

func (s *Stage) tasks(set *numberSet) iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		for n := range set.all() {
			if !yield(s.Tasks[n]) {
				return
			}
		}
	}
}
