package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hammr/hammr/dag"
)

// CheckInvariants computes all counts and indexes of the state again, and reports the first
// maxProblems differences. Tests call it after each transition, and a master after it has restored a
// snapshot. Its cost is proportional to the size of the state.
func (s *State) CheckInvariants() error {
	c := &checker{used: make(map[string]Capacity), listed: make(map[string]int)}
	suspected := setOf(s.suspected)
	last := 0
	for j := range s.View().Jobs() {
		c.require(last < j.ID.Number && j.ID.Number <= s.Submitted, "%v follows job %d, of %d submitted", j.ID, last, s.Submitted)
		last = j.ID.Number
		c.job(j)
		c.checkpoints(s, j)
		c.lostOutputs(j)
	}
	c.require(FirstVersion <= s.Version && s.Version <= FormatVersion, "cluster version %d is not within %d and %d", s.Version, FirstVersion, FormatVersion)
	lost := 0
	for i, m := range s.Machines {
		c.machine(s, i, m)
		if m.Lost {
			lost++
		}
	}
	data := s.dataByMachine()
	for _, name := range slices.Sorted(maps.Keys(data)) {
		c.require(s.byName[name] != nil, "machine %q has data of jobs and is unknown", name)
	}
	for _, m := range s.Machines {
		c.require(slices.Equal(s.dataOn(m), data[m.Name]), "machine %s has data of %v, by its index %v", m.Name, data[m.Name], s.dataOn(m))
		referred := len(m.Attempts)+len(data[m.Name]) > 0
		c.require(s.View().IsReferenced(m) == referred, "machine %s: referred to %v, by its index %v", m.Name, referred, !referred)
		c.require(suspected[m] == (m.Suspicion != ""), "machine %s: suspicion %q, listed: %v", m.Name, m.Suspicion, suspected[m])
	}
	c.require(len(s.byName) == len(s.Machines), "%d machines by name, %d by index", len(s.byName), len(s.Machines))
	c.require(slices.Equal(s.Pools, poolNames(s.Pools)), "pools %q", s.Pools)
	c.sessions(s)
	c.require(s.lost == lost, "%d machines lost, counted %d", s.lost, lost)
	return errors.Join(c.errs...)
}

// sessions counts the remembered requests.
func (c *checker) sessions(s *State) {
	results := 0
	for _, se := range s.Sessions {
		results += len(se.Results)
	}
	c.require(s.results == results, "%d requests are remembered, counted %d", results, s.results)
}

// maxProblems bounds the length of an error about a damaged state or snapshot.
const maxProblems = 20

// checker collects the differences that CheckInvariants finds.
type checker struct {
	errs      []error
	used      map[string]Capacity // what is in use by machine, counted over attempts
	listed    map[string]int      // number of attempts by machine, counted over attempts
	suspended map[*Attempt]bool   // those that the present stage lists
}

// setOf returns the elements of a list as a set.
func setOf[E comparable](list []E) map[E]bool {
	set := make(map[E]bool, len(list))
	for _, e := range list {
		set[e] = true
	}
	return set
}

// require notes a difference if a condition is false.
func (c *checker) require(ok bool, format string, args ...any) {
	if !ok && len(c.errs) < maxProblems {
		c.errs = append(c.errs, fmt.Errorf(format, args...))
	}
}

// totals checks the counters of a stage against those of its tasks.
func (c *checker) totals(j *Job, stage *Stage) {
	counted := &Stage{totals: make([]int64, len(stage.totals))}
	for _, t := range stage.Tasks {
		counted.addCounts(j.CounterNames, t.Counts)
	}
	c.require(len(stage.totals) <= len(j.CounterNames), "%v %s: %d totals of %d counters", j.ID, stage.Name, len(stage.totals), len(j.CounterNames))
	c.require(slices.Equal(stage.totals, counted.totals), "%v %s: totals %v, counted %v", j.ID, stage.Name, stage.totals, counted.totals)
}

// job checks the counts of a job against its stages and tasks, and the job's state against
// both.
func (c *checker) job(j *Job) {
	occupied, unfinished := 0, 0
	for _, stage := range j.Stages {
		occupied += c.stage(j, stage)
		if stage.RequiredForCommit() {
			unfinished += len(stage.Tasks) - stage.Finished
		}
		c.totals(j, stage)
	}
	for _, b := range j.Bundles {
		c.bundle(j, b)
	}
	c.require(j.Occupied == occupied, "%v: Occupied %d, counted %d", j.ID, j.Occupied, occupied)
	c.require(j.requiredLeft == unfinished, "%v: unmet %d, counted %d", j.ID, j.requiredLeft, unfinished)
	c.require(!j.State.Final() || occupied == 0, "%v is %v and holds %d slots", j.ID, j.State, occupied)
	c.require(j.State != JobRunning || unfinished > 0, "%v is RUNNING with nothing left to do", j.ID)
	c.require(j.State != JobCommitting && j.State != JobSucceeded || unfinished == 0, "%v is %v with %d tasks to do", j.ID, j.State, unfinished)
	c.require(!j.Archived || j.State.Final() && j.Stages == nil, "%v is %v with %d stages and archived", j.ID, j.State, len(j.Stages))
	c.require(!j.Suspended || j.State <= JobRunning, "%v is %v and suspended", j.ID, j.State)
	c.require(j.Outage.PausedUntil == 0 || j.State == JobRunning, "%v is %v and paused", j.ID, j.State)
	c.require((j.Cause != "") == (j.Outcome != 0), "%v: outcome %v with cause %q", j.ID, j.Outcome, j.Cause)
}

// stage checks a stage and returns how many of its attempts are on machines.
func (c *checker) stage(j *Job, s *Stage) (occupied int) {
	finished, running, pending := 0, 0, 0
	c.suspended = setOf(s.suspended)
	for n, t := range s.Tasks {
		occupied += c.task(j, s, t)
		waits := t.isWaiting()
		switch {
		case waits:
			pending++
		case t.State == TaskRunning:
			running++
		case t.State == TaskSucceeded:
			finished++
		}
		c.require(t.ID == TaskID{j.ID, s.Code, n}, "%v stands at %s %d", t.ID, s.Code, n)
		c.require(s.pending.has(n) == waits, "%v is %v, in the index of waiting tasks: %v", t.ID, t.State, !waits)
		split, _ := j.SplitOf(t)
		for _, host := range split.Hosts {
			c.require(s.byHost[host].has(n) == waits, "%v is %v, indexed under %s: %v", t.ID, t.State, host, !waits)
		}
	}
	c.require(s.tasksHidden == j.StartsNoTask(), "%v %s: tasks hidden %v, the job starts none: %v", j.ID, s.Name, s.tasksHidden, j.StartsNoTask())
	c.require(s.Finished == finished, "%v %s: Finished %d, counted %d", j.ID, s.Name, s.Finished, finished)
	c.require(s.Running == running, "%v %s: Running %d, counted %d", j.ID, s.Name, s.Running, running)
	failed, killed := s.countEnded(StatusFailed), s.countEnded(StatusKilled)
	c.require(s.Failed == failed && s.Killed == killed, "%v %s: Failed %d, Killed %d, counted %d and %d", j.ID, s.Name, s.Failed, s.Killed, failed, killed)
	c.require(s.pending.count == pending, "%v %s: %d waiting, counted %d", j.ID, s.Name, s.pending.count, pending)
	c.ranges(j, s)
	return occupied
}

// countEnded counts the attempts of a stage with a status.
func (s *Stage) countEnded(status AttemptStatus) (n int) {
	for _, a := range s.Attempts() {
		if a.Status() == status {
			n++
		}
	}
	return n
}

// task checks a task against its attempts, and returns how many of them are on machines.
func (c *checker) task(j *Job, s *Stage, t *Task) (occupied int) {
	won, running := 0, 0
	for n, a := range t.Attempts {
		follows := n == 0 || t.Attempts[n-1].ID.Number < a.ID.Number
		c.require(a.ID.Task == t.ID && a.ID.Number >= n && follows, "%v stands at %v %d", a.ID, t.ID, n)
		c.require(a.Active() == (a.EndedAt == 0), "%v is %v and ended at %d", a.ID, a.State, a.EndedAt)
		if a.OnMachine() {
			occupied++
			c.listed[a.Machine]++
		}
		if a.OccupiesSlot() {
			c.used[a.Machine] = c.used[a.Machine].Plus(s.Takes())
		}
		listed := c.suspended[a]
		c.require(listed == a.Suspended(), "%v is %v, listed as suspended: %v", a.ID, a.State, listed)
		switch a.Status() {
		case StatusSucceeded:
			won++
			c.require(t.Winner == a, "%v succeeded and is not the winner", a.ID)
		case StatusRunning:
			running++
		}
	}
	c.require((t.State == TaskRunning) == (running > 0), "%v is %v with %d running attempts", t.ID, t.State, running)
	c.require((t.State == TaskSucceeded) == (won == 1) && won <= 1, "%v is %v with %d winners", t.ID, t.State, won)
	c.require((t.Winner != nil) == (won == 1) && (t.Output != nil) == (won == 1), "%v: winner or output without success", t.ID)
	c.require(t.Earlier == nil || won == 0, "%v: its output is not compared with the earlier one", t.ID)
	c.require(s.Bundle.Gang || t.ConsistentCheckpoint == nil && (t.Winner == nil || t.Checkpoint == nil), "%v is %v and keeps a checkpoint", t.ID, t.State)
	c.require(t.Charged <= max(j.Spec.MaxAttempts[MapSlot], j.Spec.MaxAttempts[ReduceSlot]), "%v charged %d times", t.ID, t.Charged)
	c.require(len(t.Skip) <= j.Spec.SkipRecords && slices.IsSortedFunc(t.Skip, dag.Position.Compare), "%v skips %v", t.ID, t.Skip)
	for _, p := range t.Skip {
		c.require(t.Range.Contains(p), "%v skips %v outside %v", t.ID, p, t.Range)
	}
	return occupied
}

// bundle checks that the tasks of a gang start together, resume together from their
// checkpoints, and are suspended together.
func (c *checker) bundle(j *Job, b *Bundle) {
	if !b.Gang || j.State != JobRunning {
		return
	}
	for n := range b.Count {
		startOver, suspended, running := 0, 0, 0
		tasks, runs := b.TasksOf(n), b.isRunning(n)
		for _, t := range tasks {
			c.require(runs || t.ConsistentCheckpoint == nil && (t.Winner == nil || t.Checkpoint == nil), "%v keeps a consistent checkpoint, and none of its gang runs", t.ID)
			c.require(t.ConsistentCheckpoint == nil || t.State == TaskCheckpointed, "%v is %v and keeps a previous checkpoint", t.ID, t.State)
			if t.State == TaskPending {
				startOver++
			}
			for a := range t.ActiveAttempts() {
				if a.Suspended() {
					suspended++
				} else {
					running++
				}
			}
		}
		c.require(suspended == 0 || running == 0, "%v: %d attempts of bundle %d of class %d are suspended, and %d are not", j.ID, suspended, n, b.Index, running)
		c.require(startOver == 0 || startOver == len(tasks), "%v: %d of %d tasks of bundle %d of class %d are to start over", j.ID, startOver, len(tasks), n, b.Index)
	}
}

// ranges checks that the tasks split from one input split are adjacent.
func (c *checker) ranges(j *Job, s *Stage) {
	bySplit := make([][]dag.Range, len(s.Tasks))
	for _, t := range s.Tasks {
		if t.Ranged {
			bySplit[t.Part] = append(bySplit[t.Part], t.Range)
		}
	}
	for part, ranges := range bySplit {
		slices.SortFunc(ranges, func(a, b dag.Range) int { return a.Start.Compare(b.Start) })
		for i := 1; i < len(ranges); i++ {
			c.require(ranges[i-1].End == ranges[i].Start, "%v %s part %d: ranges %v", j.ID, s.Name, part, ranges)
		}
	}
}

// machine checks a machine against the attempts counted on it, and its place in the
// indexes.
func (c *checker) machine(s *State, i int, m *Machine) {
	c.require(m.index == i && s.byName[m.Name] == m, "machine %s is not found by name and index", m.Name)
	used := Capacity{m.Used, m.UsedMemoryMB}
	c.require(c.used[m.Name] == used, "machine %s: used %v, counted %v", m.Name, used, c.used[m.Name])
	c.require(m.Slots == m.usableSlots(), "machine %s: slots %v of %v, lost %v, excluded %v, unhealthy %q", m.Name, m.Slots, m.Offered, m.Lost, m.Excluded, m.Unhealthy)
	c.require(!m.Draining || m.Excluded, "machine %s is drained and not excluded", m.Name)
	c.require(!m.UntilRestart || m.Draining, "machine %s is excluded until its restart and not drained", m.Name)
	c.require(m.DrainDeadline == 0 || m.Draining, "machine %s has a deadline and is not drained", m.Name)
	for kind := range m.Used {
		free := m.Free(Slot(kind)) > 0
		c.require(s.free[kind].has(i) == free, "machine %s: free %v slot: %v, indexed: %v", m.Name, Slot(kind), free, !free)
	}
	for _, a := range m.Attempts {
		c.require(a.OnMachine() && a.Machine == m.Name, "machine %s lists %v, which is not there", m.Name, a.ID)
	}
	c.require(len(m.Attempts) == c.listed[m.Name], "machine %s lists %d attempts of %d", m.Name, len(m.Attempts), c.listed[m.Name])
}

// dataByMachine returns the tasks of unfinished jobs that have output, needed or not, or a
// checkpoint on a machine, ascending, by name of machine. It visits every task; dataOn returns
// the same from an index.
func (s *State) dataByMachine() map[string][]TaskID {
	data := make(map[string][]TaskID)
	add := func(machine string, t *Task) {
		if machine != "" {
			data[machine] = append(data[machine], t.ID)
		}
	}
	for j := range s.View().Jobs() {
		if j.State.Final() {
			continue
		}
		for _, stage := range j.Stages {
			for _, t := range stage.Tasks {
				if t.Winner != nil {
					add(t.Winner.DataMachine(), t)
				}
				for _, c := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
					if c != nil {
						add(c.Machine, t)
					}
				}
			}
		}
	}
	for machine, tasks := range data {
		slices.SortFunc(tasks, TaskID.Compare)
		data[machine] = slices.Compact(tasks)
	}
	return data
}
