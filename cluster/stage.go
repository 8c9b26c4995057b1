package cluster

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// Stage is a class of equal NodeGroups of a job, with indexes over them. Its NodeGroups are
// its tasks. It is one stage of the job's graph, or several stages whose Nodes share
// processes.
type Stage struct {
	Name            string          `cbor:"-"` // names of its stages in the graph, joined by +
	Code            string          `cbor:"-"` // its name in ids: "m", "r" or "s<index>"
	Index           int             `cbor:"-"` // its index in Job.Stages and in the Groups of the layout
	Nodes           []int           `cbor:"-"` // places of its stages in the graph, ascending
	Slots           Slots           `cbor:"-"` // slots that a task takes
	Slot            Slot            `cbor:"-"` // the kind of these slots; ReduceSlot if a task takes both kinds
	MemoryMB        int64           `cbor:"-"` // memory that a task takes, MiB; 0 if its job names none
	Bundle          *Bundle         `cbor:"-"` // class of the bundles that its tasks are in
	Source          bool            `cbor:"-"` // it reads splits
	Sink            bool            `cbor:"-"` // no stage reads what some of its Nodes write: it is the job's output
	Stored          bool            `cbor:"-"` // what it writes for other stages does not lie on its machines
	DisallowedModes preempt.ModeSet `cbor:"-"` // modes by which no slot is taken from its tasks
	Tasks           []*Task         `cbor:"-"` // by number; a split of a task appends another. In snapshots as items of their own

	Finished int `cbor:"-"` // tasks that have succeeded; at most len(Tasks)
	Running  int `cbor:"-"` // tasks with an active attempt; at most len(Tasks) - Finished
	Failed   int `cbor:"-"` // attempts failed
	Killed   int `cbor:"-"` // attempts killed or lost; Preemption counts those that were preempted

	WritesFiles bool  `cbor:"1,keyasint,omitempty"` // its tasks write files of the job's output in addition to what other stages read
	StartedAt   int64 `cbor:"2,keyasint,omitempty"` // start of the first attempt
	FinishedAt  int64 `cbor:"3,keyasint,omitempty"` // when the last task succeeded; 0 while one has not

	Launched    int             `cbor:"4,keyasint,omitempty"` // attempts started
	LocalStarts int             `cbor:"5,keyasint,omitempty"` // attempts started where their split lies
	RackStarts  int             `cbor:"6,keyasint,omitempty"` // attempts started elsewhere in the rack of their split
	SlotMillis  int64           `cbor:"7,keyasint,omitempty"` // time for which attempts occupied a slot; sum over the attempts that have released it
	Preemption  PreemptionStats `cbor:"8,keyasint,omitzero"`  // preemptions of its attempts since the job was submitted
	CombineSets []combineSet    `cbor:"9,keyasint,omitempty"` // sets of the per-machine and kept edges that it reads, in order of edges

	totals              []int64               // of the counters of its finished tasks, parallel to Job.CounterNames; missing ones are 0
	upstream            []upstream            // stages whose files it reads, in order of edges
	pending             numberSet             // tasks to be started
	lostUnneeded        numberSet             // finished tasks whose output is lost and not needed
	suspended           []*Attempt            // attempts, in order of start
	tasksHidden         bool                  // its job starts no task: Waiting and Suspended hide its tasks from policies
	byHost              map[string]*numberSet // pending tasks by host of their split; filled when splits are loaded
	byCheckpointMachine map[string]*numberSet // pending tasks by CheckpointMachine; no set is empty
}

// upstream is a stage whose output another stage reads along an edge.
type upstream struct {
	stage *Stage
	edge  int  // place in the graph's edges
	whole bool // the reader starts only when all of it is finished
}

// deriveStages sets what follows from the graph in its stages, one for each class of NodeGroups,
// with the edges that they read. No task is in an index afterwards.
func deriveStages(g dag.Graph, layout *dag.Layout, stages []*Stage) {
	classOf := make(map[string]*Stage)
	for i, class := range layout.Groups {
		s := stages[i]
		s.byHost, s.byCheckpointMachine = make(map[string]*numberSet), make(map[string]*numberSet)
		s.Index, s.Nodes, s.Slots, s.Slot, s.Source, s.Sink, s.upstream = i, class.Stages, class.Slots, MapSlot, false, false, nil
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
	}
	for i, e := range g.Edges {
		from, to := classOf[e.From], classOf[e.To]
		if e.Channel == dag.ChannelFile {
			from.Stored = from.Stored && e.Stored
			to.upstream = append(to.upstream, upstream{from, i, e.Connection == dag.PerMachine || !mayStartEarly(layout, from, to)})
		}
	}
}

// mayStartEarly reports whether readers may occupy slots before everything that they read is
// written. Only readers in reduce slots may do so, and only if the writers take map slots.
// So no attempt waits in a map slot: all map slots come free, the writers finish, and the
// readers in reduce slots find their input.
func mayStartEarly(layout *dag.Layout, from, to *Stage) bool {
	writer := layout.Bundles[layout.Groups[from.Index].Bundle].Slots
	reader := layout.Bundles[layout.Groups[to.Index].Bundle].Slots
	return writer[ReduceSlot] == 0 && reader[MapSlot] == 0
}

// stageCode returns the stage's name in task ids. Maps and reduces have Hadoop's letters.
func stageCode(name string, index int) string {
	switch name {
	case "map":
		return "m"
	case "reduce":
		return "r"
	}
	return fmt.Sprintf("s%d", index)
}

// Ready reports whether tasks of the stage may start: all their input is written or, if they
// may start early, enough of it is written and the writers of the rest only need slots. The
// result is false while the job is suspended or paused by an outage.
func (j *Job) Ready(s *Stage) bool {
	if j.State != JobRunning || j.StartsNoTask() {
		return false
	}
	for _, up := range s.upstream {
		if !up.stage.Complete() && (up.whole || up.stage.Finished < j.SlowStartTasks(up.stage) || !up.stage.Bundle.InputsComplete()) {
			return false
		}
	}
	return true
}

// SlowStartTasks returns how many tasks of a stage have to finish before the readers of its
// files may start (mapreduce.job.reduce.slowstart.completedmaps).
func (j *Job) SlowStartTasks(s *Stage) int {
	return (j.Spec.SlowStartPPM*len(s.Tasks) + 999_999) / 1_000_000
}

// EdgeComplete reports whether all output for a file edge is written and counts.
func (j *Job) EdgeComplete(edge int) bool {
	return j.StageOf(j.Spec.Graph.Edges[edge].From).Complete()
}

// Complete reports whether all tasks of the stage, and of the other stages of its bundles,
// have finished, so that its output counts.
func (s *Stage) Complete() bool {
	return !slices.ContainsFunc(s.Bundle.Stages, func(mate *Stage) bool { return mate.Finished < len(mate.Tasks) })
}

// StageOf returns the stage that contains a stage of the graph; nil for an unknown name.
func (j *Job) StageOf(name string) *Stage {
	n := j.Spec.Graph.StageIndex(name)
	for _, s := range j.Stages {
		if slices.Contains(s.Nodes, n) {
			return s
		}
	}
	return nil
}

// StartsAlone reports whether a task of the stage starts by itself, in one slot. Other tasks
// start by StartBundle.
func (s *Stage) StartsAlone() bool {
	return s.Slots.Total() == 1 && !s.Bundle.Gang
}

// Attempts yields all attempts of the stage with their tasks, in order of tasks and numbers.
func (s *Stage) Attempts() iter.Seq2[*Task, *Attempt] { return attemptsOf(s.Tasks) }

// Attempts yields all attempts of the job with their stages, in order of stages, tasks and
// numbers.
func (j *Job) Attempts() iter.Seq2[*Stage, *Attempt] {
	return func(yield func(*Stage, *Attempt) bool) {
		for _, s := range j.Stages {
			for _, a := range s.Attempts() {
				if !yield(s, a) {
					return
				}
			}
		}
	}
}

// RequiredForCommit reports whether the stage's tasks write output of the job, so that the
// job commits only when all of them have finished.
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

// Waiting returns how many tasks of the stage wait for a slot. It is 0 while the job is
// suspended or paused by an outage, so that policies need no check for such jobs.
func (s *Stage) Waiting() int {
	if s.tasksHidden {
		return 0
	}
	return s.pending.count
}

// ToStart returns how many tasks of the stage wait for a slot, whether the job is suspended
// or not.
func (s *Stage) ToStart() int { return s.pending.count }

// Pending yields the tasks to be started, in order of number.
func (s *Stage) Pending() iter.Seq[*Task] { return s.tasks(&s.pending) }

// Suspended returns the attempts that wait for a slot of their machine, in order of start;
// none while the job is suspended. The caller must not change the list.
func (s *Stage) Suspended() []*Attempt {
	if s.tasksHidden {
		return nil
	}
	return s.suspended
}

// SuspendedCount returns how many attempts of the stage are suspended, whether the job is
// suspended or not.
func (s *Stage) SuspendedCount() int { return len(s.suspended) }

// Located reports whether the location of any split of the stage is known. It is false
// before the splits are loaded.
func (s *Stage) Located() bool { return len(s.byHost) > 0 }

// PendingOn yields the tasks to be started whose split lies on a host, in order of number.
// There are none before the splits are loaded.
func (s *Stage) PendingOn(host string) iter.Seq[*Task] { return s.tasks(s.byHost[host]) }

// CheckpointedOn yields the tasks to be started whose checkpoint lies on a machine, in order
// of number.
func (s *Stage) CheckpointedOn(machine string) iter.Seq[*Task] {
	return s.tasks(s.byCheckpointMachine[machine])
}

// tasks yields the tasks of a set, in order of number; none for a nil set.
func (s *Stage) tasks(set *numberSet) iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		for n := range set.all() {
			if !yield(s.Tasks[n]) {
				return
			}
		}
	}
}
