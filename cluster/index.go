package cluster

import (
	"fmt"
	"slices"
)

// index computes every field of the state that snapshots do not have, whatever it was: counts, sums, ids and indexes.
// Only the splits of jobs stay as they are. It is an error if no state has the values that it computes from.
//
// A count or an index that is added to a struct gets no number in its tag. It is computed here and checked in
// invariants.go. TestReplicasAreEqual finds a field for which that is forgotten.
func (s *State) index() error {
	if slices.Contains(s.Machines, nil) || slices.Contains(s.jobs, nil) {
		return fmt.Errorf("a machine or a job is null")
	}
	if s.Sessions == nil {
		s.Sessions = make(map[string]*session)
	}
	s.results, s.applying = 0, nil
	for client, se := range s.Sessions {
		if se == nil {
			return fmt.Errorf("the session of %q is null", client)
		}
		if se.Results == nil {
			se.Results = make(map[uint64]int)
		}
		s.results += len(se.Results)
	}
	if s.indexMachines(); len(s.byName) < len(s.Machines) {
		return fmt.Errorf("one of %d machines is in it twice", len(s.Machines))
	}
	last := 0
	for _, j := range s.jobs {
		if j.ID.Cluster != s.ID || j.ID.Number <= last || j.ID.Number > s.Submitted {
			return fmt.Errorf("%v, of %d submitted, is out of order", j.ID, s.Submitted)
		}
		last = j.ID.Number
		if err := s.indexJob(j); err != nil {
			return fmt.Errorf("%v: %w", j.ID, err)
		}
	}
	s.indexAttempts()
	return nil
}

// indexMachines computes what does not depend on jobs. No machine has attempts or data afterwards.
func (s *State) indexMachines() {
	s.byName, s.lost, s.suspected = make(map[string]*Machine, len(s.Machines)), 0, nil
	for i, m := range s.Machines {
		m.index, m.data, m.Attempts = i, dataIndex{}, nil
		m.Slots, m.Used, m.UsedMemoryMB = m.usableSlots(), Slots{}, 0
		s.byName[m.Name] = m
		if m.Lost {
			s.lost++
		}
		if m.Suspicion != "" {
			s.suspected = append(s.suspected, m)
		}
	}
}

// indexJob computes what the stages of a job, its tasks and their attempts have.
func (s *State) indexJob(j *Job) error {
	if j.Archived {
		j.archive(j.Summary)
		return nil
	}
	if err := j.Spec.Graph.Validate(); err != nil {
		return err
	}
	j.Layout = j.Spec.Graph.Layout()
	if len(j.Stages) != len(j.Layout.Groups) || len(j.Bundles) != len(j.Layout.Bundles) || slices.Contains(j.Bundles, nil) {
		return fmt.Errorf("%d stages and %d classes of bundles for a graph of %d and %d", len(j.Stages), len(j.Bundles), len(j.Layout.Groups), len(j.Layout.Bundles))
	}
	j.deriveStages()
	for _, b := range j.Bundles {
		if n := len(b.Starts); n > 0 && n != b.Count {
			return fmt.Errorf("starts of %d bundles of class %d, of which it has %d", n, b.Index, b.Count)
		}
	}
	j.Occupied, j.requiredLeft, j.nameIndex = 0, 0, nil
	if len(j.CounterNames) > 0 {
		j.nameIndex = make(map[CounterName]int, len(j.CounterNames))
	}
	for i, name := range j.CounterNames {
		j.nameIndex[name] = i
	}
	for _, stage := range j.Stages {
		if err := s.indexStage(j, stage); err != nil {
			return fmt.Errorf("stage %s: %w", stage.Name, err)
		}
		if stage.RequiredForCommit() {
			j.requiredLeft += len(stage.Tasks) - stage.Finished
		}
	}
	return nil
}

// indexStage enters the tasks of a stage into its indexes and counts.
func (s *State) indexStage(j *Job, stage *Stage) error {
	edges := make([]int, len(stage.CombineSets))
	for i, set := range stage.CombineSets {
		edges[i] = set.Edge
	}
	if want := stage.combinedEdges(j.Spec.Graph); !slices.Equal(edges, want) {
		return fmt.Errorf("combine sets of the edges %d instead of %d", edges, want)
	}
	stage.Finished, stage.Running, stage.Failed, stage.Killed = 0, 0, 0, 0
	stage.pending, stage.lostUnneeded, stage.suspended, stage.totals = numberSet{}, numberSet{}, nil, nil
	for n, t := range stage.Tasks {
		t.ID = TaskID{Job: j.ID, Stage: stage.Code, Number: n}
		if err := s.indexTask(j, stage, t); err != nil {
			return fmt.Errorf("task %d: %w", n, err)
		}
	}
	return nil
}

// indexTask enters a task into the indexes and counts that setPending, step and count keep
// while the state lives.
func (s *State) indexTask(j *Job, stage *Stage, t *Task) error {
	if len(t.Counts) > len(j.CounterNames) || t.Part < 0 || t.Part > t.ID.Number {
		return fmt.Errorf("%d counters of %d, part %d", len(t.Counts), len(j.CounterNames), t.Part)
	}
	stage.addCounts(j.CounterNames, t.Counts)
	switch t.State {
	case TaskPending, TaskCheckpointed:
		stage.pending.add(t.ID.Number)
		stage.indexCheckpoint(t)
		j.indexHosts(stage, t)
	case TaskRunning:
		stage.Running++
	case TaskSucceeded:
		stage.Finished++
	}
	t.Winner = nil
	for n, a := range t.Attempts {
		if a == nil || a.State < AttemptRunning || int(a.State) >= len(attemptStates) {
			return fmt.Errorf("attempt %d has no state", n)
		}
		s.indexAttempt(taskRef{job: j, stage: stage, task: t, attempt: a})
	}
	if t.Winner != nil {
		s.indexData(t.Winner.DataMachine(), t)
	}
	for _, c := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
		if c != nil {
			s.indexData(c.Machine, t)
		}
	}
	return nil
}

// indexAttempt enters an attempt into the indexes and counts of its task, stage and job.
func (s *State) indexAttempt(p taskRef) {
	a := p.attempt
	a.ID, a.Slot = AttemptID{Task: p.task.ID, Number: a.Number}, p.stage.Slot
	p.stage.countStatus(a.Status(), 1)
	if a.Status() == StatusSucceeded {
		p.task.Winner = a
	}
	if a.State == AttemptOutputLost {
		p.stage.lostUnneeded.add(p.task.ID.Number)
	}
	if a.OnMachine() {
		p.job.Occupied++
	}
	if a.Suspended() {
		p.stage.noteSuspended(a)
	}
}

// indexAttempts gives each machine its attempts, in order of start, and takes their slots.
func (s *State) indexAttempts() {
	for _, j := range s.jobs {
		for stage, a := range j.Attempts() {
			m := s.byName[a.Machine]
			if m == nil || !a.OnMachine() {
				continue
			}
			m.Attempts = append(m.Attempts, a)
			if a.OccupiesSlot() {
				m.take(stage, 1)
			}
		}
	}
	s.free = [slotKinds]numberSet{}
	for i, m := range s.Machines {
		slices.SortFunc(m.Attempts, compareStart)
		for kind := range s.free {
			if m.Free(Slot(kind)) > 0 {
				s.free[kind].add(i)
			}
		}
	}
}
