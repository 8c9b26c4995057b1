package cluster

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

// Slot is a kind of slot: for maps or for reduces.
type Slot int

const (
	MapSlot Slot = iota
	ReduceSlot
	slotKinds = 2
)

// Slots is a number of slots of each kind, indexed by Slot.
type Slots = dag.Slots

func (s Slot) String() string { return [...]string{"map", "reduce"}[s] }

// JobState is the state of a job. A job never returns to an earlier state.
type JobState int

const (
	// JobPrep is entered by SubmitJob: splits are being loaded and the output
	// is set up. Running, or Aborting, follows.
	JobPrep JobState = iota + 1
	// JobRunning is entered by StartJob. Committing or Aborting follows.
	JobRunning
	// JobCommitting is entered when the last task that the output needs is
	// finished. Succeeded or Aborting follows.
	JobCommitting
	// JobAborting is entered when the job has failed or is killed: attempts
	// end and what they wrote is removed. Failed or Killed follows.
	JobAborting
	// JobSucceeded is entered by CommitJob and is final.
	JobSucceeded
	// JobFailed is entered by CloseJob and is final.
	JobFailed
	// JobKilled is entered by CloseJob and is final.
	JobKilled
)

func (s JobState) String() string {
	names := [...]string{"NEW", "PREP", "RUNNING", "COMMITTING", "ABORTING", "SUCCEEDED", "FAILED", "KILLED"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("JobState(%d)", int(s))
	}
	return names[s]
}

// Final reports whether nothing follows s.
func (s JobState) Final() bool { return s >= JobSucceeded }

// JobSpec is the part of a submission that the state uses. Document has the rest, which the
// state does not read.
type JobSpec struct {
	Name      string    `cbor:"Name"`
	User      string    `cbor:"User"`
	Pool      string    `cbor:"Pool"`     // one of View.Pools; "" becomes DefaultPool
	Priority  int       `cbor:"Priority"` // higher goes first; 0 is normal
	Graph     dag.Graph `cbor:"Graph"`
	OutputDir string    `cbor:"OutputDir"` // full name, "" for a job that writes no files
	OutputKey string    `cbor:"OutputKey"` // OutputDir in a form in which equal directories are equal, and "/" separates parents; "": not checked
	Placement string    `cbor:"Placement"` // how policies match its tasks with machines; "": as they prefer

	MemoryMB [slotKinds]int64 `cbor:"MemoryMB,omitzero"` // memory that a task takes, by kind of its slots, MiB; 0 is none

	MaxAttempts   [slotKinds]int `cbor:"MaxAttempts"`   // failed tries a task may have before its job fails; at least 1
	SkipRecords   int            `cbor:"SkipRecords"`   // failing records a task may skip; 0 is none
	SlowStartPPM  int            `cbor:"SlowStartPPM"`  // millionths of a stage to be finished before its readers start
	TimeoutMillis int64          `cbor:"TimeoutMillis"` // without progress before an attempt fails; 0 is no limit

	OutageLimitMillis int64 `cbor:"OutageLimitMillis"` // time for which failures by an outage of the storage cost no try; 0 is none

	MaxCounters      int `cbor:"MaxCounters"`               // counters of users' groups; 0: as many as Limits allow
	MaxCounterGroups int `cbor:"MaxCounterGroups,omitzero"` // users' groups of counters; 0: as many as Limits allow

	MaxMachineFailures int   `cbor:"MaxMachineFailures"` // failures on a machine after which the job avoids it; 0 is never
	FailureDecayMillis int64 `cbor:"FailureDecayMillis"` // time after which one of these failures is forgotten; 0 is never

	Speculative [slotKinds]bool `cbor:"Speculative"` // slow tasks may have a second attempt

	DisallowedModes []preempt.ModeSet `cbor:"DisallowedModes"` // by stage of Graph: modes in which no slot is taken from its tasks; nil: none disallowed
	Passive         bool              `cbor:"Passive"`         // its tasks wait for slots: none are taken from others for them

	Document []byte `cbor:"Document"` // the job as submitted, encoded by the jobmaster

	// FirstSentAt is when a client that repeats a submission sent it first, ms since the epoch;
	// 0 if it is not repeated.
	FirstSentAt int64 `cbor:"FirstSentAt,omitzero"`
}

// Job is one submitted job. Readers must not change what a View returns, which is valid
// until the next Apply.
//
//	PREP ──StartJob──► RUNNING ──last required task──► COMMITTING ──CommitJob──► SUCCEEDED
//	  │                   │                                │
//	  └───────────────────┴── FailJob, KillJob, last try ──┘
//	                      ▼
//	                  ABORTING ──CloseJob──► FAILED or KILLED (Outcome)
//
// The body sets up, commits and cleans up between these commands. CommitJob and CloseJob
// wait until no process of the job is left on a machine.
type Job struct {
	ID     JobID    `cbor:"1,keyasint"`
	Spec   JobSpec  `cbor:"2,keyasint"`
	State  JobState `cbor:"3,keyasint"`
	Stages []*Stage `cbor:"4,keyasint,omitempty"` // in the order of the Groups of Layout

	Layout  *dag.Layout `cbor:"-"`                    // layout of Spec.Graph
	Bundles []*Bundle   `cbor:"5,keyasint,omitempty"` // in the order of the Bundles of Layout

	Outcome JobState `cbor:"6,keyasint,omitempty"` // state that follows Aborting: JobFailed or JobKilled
	Cause   string   `cbor:"7,keyasint,omitempty"` // why the job failed or was killed; otherwise ""

	SubmittedAt int64 `cbor:"8,keyasint,omitempty"` // ms since the epoch, like all times; 0 is "not yet"
	StartedAt   int64 `cbor:"9,keyasint,omitempty"`
	CommitAt    int64 `cbor:"10,keyasint,omitempty"` // when the last task was finished
	FinishedAt  int64 `cbor:"11,keyasint,omitempty"`

	Failures []Failure `cbor:"12,keyasint,omitempty"` // the first maxFailures
	Occupied int       `cbor:"-"`                     // attempts whose processes are on machines; 0 if State is final

	// Suspended says that tasks of the job get no slots until it is resumed. It is false
	// from Committing on.
	Suspended bool `cbor:"13,keyasint,omitempty"`

	Outage Outage `cbor:"14,keyasint,omitzero"` // outage of the storage that its attempts report; zero from Committing on

	// Archived says that the history of the job is written. The job then has no Stages, and
	// its Spec has only User, Pool and Priority.
	Archived bool   `cbor:"15,keyasint,omitempty"`
	Summary  []byte `cbor:"16,keyasint,omitempty"` // what lists show of an archived job, encoded by the jobmaster

	// CounterNames has the names of the counters of finished tasks, in the order in which they
	// first occurred. Names are only appended, so a list stays true while the state changes.
	CounterNames    []CounterName     `cbor:"17,keyasint,omitempty"`
	MachineFailures []machineFailures `cbor:"18,keyasint,omitempty"` // replaced as a whole when it changes

	nameIndex    map[CounterName]int // index of each name in CounterNames
	requiredLeft int                 // unfinished tasks of stages that are required for commit; 0 from Committing on
	splits       []Split             // of the source Nodes, stage by stage; nil until loaded. Not replicated
	loaded       bool                // Load has been called: splits are known on this master, even if there are none
}

const (
	maxFailures     = 100      // failures that a job keeps for reports
	maxFailureBytes = 64 << 10 // length of the texts of these failures, without the first
	maxTextBytes    = 16 << 10 // length of each text of a failure, and of the cause of a job's end
	maxCauseBytes   = 1 << 10  // length of the cause that an attempt keeps, and of the reason why a machine is unhealthy
)

// Failure says why an attempt failed, and where.
type Failure struct {
	Attempt AttemptID     `cbor:"Attempt"`
	Machine string        `cbor:"Machine"`
	At      int64         `cbor:"At"`
	Cause   string        `cbor:"Cause"`   // one sentence
	Stack   string        `cbor:"Stack"`   // stack of the goroutine that failed; "" if it did not panic
	Input   string        `cbor:"Input"`   // full name of the input file, "" if unknown
	Offset  int64         `cbor:"Offset"`  // byte offset of the record, -1 when unknown
	Log     string        `cbor:"Log"`     // last lines of the attempt's log
	Record  *dag.Position `cbor:"Record"`  // position of the record; nil if skipping it would not help
	Fatal   bool          `cbor:"Fatal"`   // trying again cannot help
	Skipped bool          `cbor:"Skipped"` // set by Apply: the record is skipped instead of charging the attempt
}

// textBytes returns the length of the texts of a failure.
func (f Failure) textBytes() int { return len(f.Cause) + len(f.Stack) + len(f.Input) + len(f.Log) }

// truncated returns the beginning of a text, up to a number of bytes. Text that was valid UTF-8
// stays valid.
func truncated(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// CounterName names a counter.
type CounterName struct {
	Group string `cbor:"Group"`
	Name  string `cbor:"Name"`
}

// Counter is one counter's value.
type Counter struct {
	CounterName
	Value int64 `cbor:"Value"`
}

// isPeak reports whether jobs show the highest value of a counter of their tasks instead of the
// sum, as Hadoop does for the counters of peak memory.
func (n CounterName) isPeak() bool {
	return n.Group == "Map-Reduce Framework" && strings.HasPrefix(n.Name, "Peak ")
}

// addTo adds the value of a task to a total.
func (n CounterName) addTo(total, value int64) int64 {
	if n.isPeak() {
		return max(total, value)
	}
	return total + value
}

// Counters returns the total of each counter over the finished tasks of some of its stages, in the order
// in which the counters first occurred: the sum, or the highest value of a counter of peak memory.
func (j *Job) Counters(stages ...*Stage) []Counter {
	out := make([]Counter, len(j.CounterNames))
	for i, name := range j.CounterNames {
		out[i].CounterName = name
	}
	for _, s := range stages {
		for i, total := range s.totals {
			out[i].Value = out[i].addTo(out[i].Value, total)
		}
	}
	return out
}

// CountersOf returns the counters of the winning attempt of a finished task.
func (j *Job) CountersOf(t *Task) []Counter {
	var out []Counter
	for i, v := range t.Counts {
		out = append(out, Counter{j.CounterNames[i], v})
	}
	return out
}

// CounterOf returns one counter of the winning attempt of a finished task, 0 if the task does
// not have it.
func (j *Job) CounterOf(t *Task, name CounterName) int64 {
	if i, known := j.nameIndex[name]; known && i < len(t.Counts) {
		return t.Counts[i]
	}
	return 0
}

// count adds the counters of a task that has finished. Names are stored once for a job,
// since each of a million tasks has the same ones.
func (j *Job) count(s *Stage, t *Task, counters []Counter) {
	if j.nameIndex == nil {
		j.nameIndex = make(map[CounterName]int)
	}
	for _, c := range counters {
		if _, known := j.nameIndex[c.CounterName]; !known {
			j.nameIndex[c.CounterName] = len(j.CounterNames)
			j.CounterNames = append(j.CounterNames, c.CounterName)
		}
	}
	t.Counts = make([]int64, len(j.CounterNames))
	for _, c := range counters {
		t.Counts[j.nameIndex[c.CounterName]] += c.Value
	}
	s.addCounts(j.CounterNames, t.Counts)
}

// addCounts adds the counters of a finished task, which are parallel to the names of the job.
func (s *Stage) addCounts(names []CounterName, counts []int64) {
	s.totals = append(s.totals, make([]int64, max(0, len(counts)-len(s.totals)))...)
	for i, n := range counts {
		s.totals[i] = names[i].addTo(s.totals[i], n)
	}
}

// uncount subtracts the counters of a task that has to run again. If it had the highest value, that of
// the other tasks is looked for.
func (s *Stage) uncount(names []CounterName, t *Task) {
	counts := t.Counts
	t.Counts = nil
	for i, n := range counts {
		switch {
		case !names[i].isPeak():
			s.totals[i] -= n
		case n == s.totals[i]:
			s.totals[i] = s.highest(i)
		}
	}
}

// highest returns the highest value of a counter of finished tasks, by its place in the names of the job.
func (s *Stage) highest(i int) (most int64) {
	for _, t := range s.Tasks {
		if i < len(t.Counts) {
			most = max(most, t.Counts[i])
		}
	}
	return most
}

// EffectivePriority returns the priority that scheduling policies order jobs by; higher goes
// first, 0 is normal. Policies call it instead of reading Spec.Priority, so that a rule such
// as priority inheritance needs only one implementation.
//
// Policies keep the value, and read it again for the jobs in Delta.Jobs: a command that
// changes the value of another job has to list that job, too. Disco has no priorities.
//
// Besides SetPriority (apply_job.go), every end of a job can change the priority of another:
// setJobState (transition.go), or applyOnce (state.go) once for all commands. A stored value
// is derived again in index and counted again in CheckInvariants (invariants.go). Users
// see Spec.Priority in status.go and explain.go of jobmaster.
func (j *Job) EffectivePriority() int { return j.Spec.Priority }

// Loaded reports whether the job's splits are known here.
func (j *Job) Loaded() bool { return j.loaded }

// makeStages makes the stages and bundles of a new job.
func (j *Job) makeStages() {
	j.Layout = j.Spec.Graph.Layout()
	j.Stages, j.Bundles = zeros[Stage](len(j.Layout.Groups)), zeros[Bundle](len(j.Layout.Bundles))
	j.deriveStages()
	for _, s := range j.Stages {
		for _, edge := range s.combinedEdges(j.Spec.Graph) {
			s.CombineSets = append(s.CombineSets, combineSet{Edge: edge})
		}
	}
}

// deriveStages sets what follows from the job's graph in its stages and bundles.
func (j *Job) deriveStages() {
	deriveStages(j.Spec.Graph, j.Layout, j.Stages)
	for _, s := range j.Stages {
		s.MemoryMB = j.Spec.MemoryMB[s.Slot]
	}
	for i, b := range j.Bundles {
		b.derive(i, j.Layout, j.Stages)
		j.disallowModes(b)
	}
	j.hideTasks()
}

// SplitOf returns where the input of a task lies. For a task that reads one split it returns
// the split; for several splits, one Split without a range. For a task that combines output
// or reads a file that is kept, it returns the machine of that output. ok is false for other
// tasks and while the location is unknown.
func (j *Job) SplitOf(t *Task) (s Split, ok bool) {
	if t.Split >= 0 {
		if t.Split >= len(j.splits) {
			return Split{}, false
		}
		return j.splits[t.Split], true
	}
	stage := j.stage(t.ID.Stage)
	if machine := stage.combineMachine(t); machine != "" {
		return Split{Hosts: []string{machine}, Bytes: 1}, true
	}
	if !stage.Source || !j.loaded {
		return Split{}, false
	}
	for _, source := range j.SourcesOf(t) {
		if source.Split >= len(j.splits) {
			break // every master, with or without splits, has to apply the same entries
		}
		split := j.splits[source.Split]
		s.Bytes += split.Bytes
		for _, host := range split.Hosts {
			if !slices.Contains(s.Hosts, host) {
				s.Hosts = append(s.Hosts, host)
			}
		}
	}
	return s, true
}

// Source is a Node that reads a split.
type Source struct {
	Stage int // place in the graph's stages
	Node  int // number in the stage
	Split int // number of the split in the job
}

// SourcesOf returns the Nodes of a task that read splits.
func (j *Job) SourcesOf(t *Task) (sources []Source) {
	stage := j.stage(t.ID.Stage)
	if !stage.Source {
		return nil
	}
	if t.Split >= 0 {
		return []Source{{Stage: stage.Nodes[0], Node: t.Part, Split: t.Split}}
	}
	for _, span := range j.Layout.Nodes(dag.GroupID{Class: stage.Index, Index: t.ID.Number}) {
		if !j.Spec.Graph.IsSource(j.Spec.Graph.Stages[span.Stage].Name) {
			continue
		}
		first := j.firstSplit(span.Stage)
		for n := span.First; n < span.End; n++ {
			sources = append(sources, Source{Stage: span.Stage, Node: n, Split: first + n})
		}
	}
	return sources
}

// firstSplit returns the number of the first split of a source stage of the graph.
func (j *Job) firstSplit(stage int) (n int) {
	for _, s := range j.Spec.Graph.Stages[:stage] {
		if j.Spec.Graph.IsSource(s.Name) {
			n += s.Nodes
		}
	}
	return n
}

// RangeOf returns what a task has to read: the whole split, or the part left after a split
// of the task. The range is empty for tasks that read no split, and while the splits are not
// loaded.
func (j *Job) RangeOf(t *Task) dag.Range {
	if t.Ranged {
		return t.Range
	}
	s, _ := j.SplitOf(t)
	return s.Range
}
