package cluster

import (
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
)

// fullSpec returns a submission in which every field of JobSpec has a value, with a graph that has also the rarer
// fields of its edges.
func (l *lifetime) fullSpec() SubmitJob {
	c := submit(1, 1)
	switch kind := l.random.IntN(4); {
	case l.s.notZero == nil || kind == 0:
		c.Spec.Graph = l.withInputs(randomDAG(l.random))
	case kind == 1:
		c.Spec.Graph = gangGraph(2)
	case kind == 2:
		c.Spec.Graph = sharedFiles()
	}
	c.Spec.Name, c.Spec.User, c.Spec.Placement, c.Spec.OutputKey = "count", "ann", "flow", "h/out"
	c.Spec.MemoryMB, c.Spec.MaxAttempts, c.Spec.SkipRecords = [2]int64{100, 200}, [2]int{999, 999}, 3
	c.Spec.SlowStartPPM, c.Spec.TimeoutMillis, c.Spec.OutageLimitMillis = l.random.IntN(3)*500_000, 1000, 1<<40
	c.Spec.MaxCounters, c.Spec.MaxCounterGroups, c.Spec.Speculative, c.Spec.Passive = 100, 10, [2]bool{true, true}, true
	c.Spec.MaxMachineFailures, c.Spec.FailureDecayMillis = 3, 1000
	c.Spec.Document, c.Spec.FirstSentAt = []byte("document"), 500_000
	for range l.random.IntN(2) * len(c.Spec.Graph.Stages) {
		c.Spec.DisallowedModes = append(c.Spec.DisallowedModes, preempt.ModeSet(l.random.IntN(int(preempt.AllModes)+1)&l.random.IntN(int(preempt.AllModes)+1)))
	}
	return c
}

// withInputs names the inputs of stages, stores files, and shares the files of edges, where that is valid.
func (l *lifetime) withInputs(g dag.Graph) dag.Graph {
	for i := range g.Edges {
		for _, change := range []func(*dag.Edge){
			func(e *dag.Edge) { e.Stored = e.Channel == dag.ChannelFile && l.random.IntN(4) == 0 },
			func(e *dag.Edge) { e.Input = "from " + e.From },
			func(e *dag.Edge) { e.FilesOf = g.Stages[l.random.IntN(len(g.Stages))].Name },
		} {
			if before := g.Edges[i]; l.random.IntN(2) == 0 {
				change(&g.Edges[i])
				if g.Validate() != nil {
					g.Edges[i] = before
				}
			}
		}
	}
	for i, s := range g.Stages {
		for _, e := range g.Edges {
			if e.To == s.Name {
				g.Stages[i].Inputs = append(g.Stages[i].Inputs, e.InputName())
			}
		}
	}
	return g
}

// report returns what an attempt reports that has finished: files for each edge, or of the output, and counters.
func (l *lifetime) report(p taskRef) FinishAttempt {
	c := FinishAttempt{Attempt: p.attempt.ID, Range: p.task.Range, Output: Manifest{Bytes: 9, Records: 8}, Counters: []Counter{
		{CounterName{"g", "a"}, 3}, {CounterName{"Map-Reduce Framework", "Peak memory"}, int64(l.random.IntN(5))},
	}}
	staged := stagedDir(p.job.ID) + "/" + p.attempt.ID.String() + "."
	for i, e := range p.job.Spec.Graph.Edges {
		s := Segments{Edge: i, Node: p.task.ID.Number, Path: staged + fmt.Sprint(i), IndexChecksum: 5}
		if l.s.State.Version >= 2 { // an attempt that runs again emits other records
			s.Emitted, s.Cuts = 2+uint64(p.attempt.ID.Number%2), 3
		}
		if e.Channel == dag.ChannelFile && e.FilesOf == "" && p.job.StageOf(e.From) == p.stage && p.hasNode(p.job.Spec.Graph.StageIndex(e.From), s.Node, s.Node) {
			c.Output.Segments = append(c.Output.Segments, s)
		}
	}
	if l.random.IntN(2) == 0 {
		pieces := pieceOf(l.s.State, p.attempt.ID).Pieces
		pieces[0].Length, pieces[0].Checksum, pieces[0].Records, pieces[0].Suffix = 4, 5, 6, ".gz"
		c.Output.Pieces = pieces
	}
	return c
}

// checkpointOf returns the report of a checkpoint.
func (l *lifetime) checkpointOf(a *Attempt) CheckpointAttempt {
	c := CheckpointAttempt{Attempt: a.ID, Checkpoint: Checkpoint{Path: "c", Bytes: 7, Checksum: 8}}
	if l.random.IntN(2) == 0 {
		c.Checkpoint.Copy = copyOf(a.ID)
		c.Checkpoint.Copy.Bytes, c.Checkpoint.Copy.Checksum = 7, 9
	}
	return c
}

// failureOf returns a failure of an attempt, with every text.
func (l *lifetime) failureOf(a *Attempt) FailAttempt {
	c := FailAttempt{Attempt: a.ID, Failure: Failure{Cause: "bad", Stack: "main", Input: "hdfs://h/in", Offset: 5, Log: "last line"}}
	switch l.random.IntN(5) {
	case 0:
		c.Failure.Record = &dag.Position{Offset: int64(l.random.IntN(100)), Skip: 1}
	case 1:
		c.StorageDown = true
	case 2, 3:
		outputs := l.attemptsThat(func(a *Attempt) bool { return a.State == AttemptSucceeded })
		if len(outputs) > 0 {
			c.Unreached, c.Uncharged = outputs[l.random.IntN(len(outputs))].ID, true
		}
	case 4:
		c.OnMachine = true
	}
	return c
}

// attemptsThat returns the attempts at the job that fit.
func (l *lifetime) attemptsThat(fit func(*Attempt) bool) (found []*Attempt) {
	for _, a := range l.j.Attempts() {
		if fit(a) {
			found = append(found, a)
		}
	}
	return found
}

// event returns a random event or order, which the state may refuse.
func (l *lifetime) event() Command {
	if attempts := l.attemptsThat(func(a *Attempt) bool { return a.Active() || a.State == AttemptSucceeded }); len(attempts) > 0 && l.random.IntN(3) > 0 {
		return l.attemptEvent(attempts[l.random.IntN(len(attempts))])
	}
	name := fmt.Sprintf("n%d", l.random.IntN(3))
	outputs := l.attemptsThat(func(a *Attempt) bool { return a.State == AttemptSucceeded })
	if len(outputs) > 0 && l.random.IntN(2) == 0 {
		name = outputs[l.random.IntN(len(outputs))].DataMachine()
	}
	m := l.s.byName[name]
	if l.random.IntN(4) == 0 {
		return ExpireMachine{Name: name, Epoch: m.Epoch, Fetched: l.fetched()}
	}
	restarted := l.join(m.Name)
	restarted.Instance = fmt.Sprint("i", l.random.IntN(99))
	for _, a := range l.attemptsThat(func(a *Attempt) bool { return a.DataMachine() == name && l.random.IntN(3) > 0 }) {
		restarted.Retained = append(restarted.Retained, a.ID)
	}
	if l.random.IntN(20) == 0 {
		l.now += 2 * sessionMillis
	}
	slices.SortFunc(restarted.Retained, AttemptID.Compare)
	restarted.Fetched = l.fetched()
	return l.favorite(
		restarted,
		AdmitMachine{name, true}, DrainMachine{name, "maintenance", l.random.IntN(2) == 0, 99}, DrainMachine{name, "", true, 0}, SetHealth{name, "disk full"},
		SuspendJob{Job: job1, Split: l.random.IntN(2) == 0, PreferSuspend: l.random.IntN(2) == 0, Cause: "later"},
		SetPriority{job1, l.random.IntN(3)}, SetPools{[]string{"a"}}, SetPool{job1, "a"}, SetPolicy{"fair", []Setting{{"a", "1"}}},
		SetLimits{Limits{1e3, 1e6, 1e6, 1e3, 1e4, 1e6, 1e5, 1e4 + 1, 1e6, 1e3, 1e3}},
	)
}

// favorite returns one of some commands. Each life has favorites among them, since few kinds of events that come
// often reach states that many kinds do not.
func (l *lifetime) favorite(commands ...Command) Command {
	for range 3 {
		if n := l.random.IntN(len(commands)); l.favorites&(1<<n) != 0 {
			return commands[n]
		}
	}
	return commands[l.random.IntN(len(commands))]
}

// fetched says that the active attempts have fetched all output; in half of all calls also the attempts before them.
func (l *lifetime) fetched() (f Fetched) {
	all := l.random.IntN(2) == 0
	for _, a := range l.attemptsThat(func(*Attempt) bool { return true }) {
		if f.Outputs = append(f.Outputs, a.ID); a.Active() || all {
			f.Readers = append(f.Readers, a.ID)
		}
	}
	slices.SortFunc(f.Outputs, AttemptID.Compare)
	slices.SortFunc(f.Readers, AttemptID.Compare)
	return f
}

func (l *lifetime) attemptEvent(a *Attempt) Command {
	p, _ := l.s.attempt(a.ID)
	machine := fmt.Sprintf("n%d", l.random.IntN(3))
	if c := p.task.Checkpoint; c != nil && c.Machine != "" && l.random.IntN(2) == 0 { // the attempt has resumed
		switch outputs := l.attemptsThat(func(a *Attempt) bool { return a.State == AttemptSucceeded }); {
		case l.random.IntN(3) == 0 && len(outputs) > 0: // it has fetched what is lost then
			name := outputs[l.random.IntN(len(outputs))].DataMachine()
			return ExpireMachine{Name: name, Epoch: l.s.byName[name].Epoch, Fetched: l.fetched()}
		case l.random.IntN(2) == 0:
			return PreemptAttempt{Attempt: a.ID, Mode: preempt.Checkpoint}
		case l.s.byName[c.Machine].Draining:
			return MoveCheckpoint{Attempt: c.Attempt, Machine: machine, Path: "m", Bytes: 7, Checksum: 8}
		}
		return DrainMachine{Name: c.Machine}
	}
	if len(p.stage.upstream) > 0 && a.State == AttemptRunning && l.random.IntN(3) == 0 {
		return PreemptAttempt{Attempt: a.ID, Mode: preempt.Checkpoint}
	}
	move := MoveOutput{Attempt: a.ID, Machine: machine}
	if p.task.Output != nil {
		move.Segments = p.task.Output.Segments
	}
	return l.favorite(
		l.failureOf(a), l.failureOf(a), l.failureOf(a), SplitTask{a.ID, dag.Position{Offset: int64(l.random.IntN(100)), Skip: int64(l.random.IntN(2))}}, SpeculateTask{a.ID.Task, machine},
		PreemptAttempt{Attempt: a.ID, Mode: preempt.Checkpoint, Cause: "others"}, PreemptAttempt{Attempt: a.ID, Mode: preempt.Split},
		PreemptAttempt{Attempt: a.ID, Mode: preempt.Suspend}, PreemptAttempt{Attempt: a.ID, Mode: preempt.Kill},
		KillAttempt{Attempt: a.ID, Cause: "enough"}, LoseOutput{a.ID, "unreadable"}, MoveAttempt{Attempt: a.ID}, move, ExitAttempt{Attempt: a.ID},
	)
}

// join returns the command by which a machine joins, or joins again.
func (l *lifetime) join(name string) JoinMachine {
	return JoinMachine{Name: name, Instance: "i", Address: name + ":1", HTTP: name + ":2", Rack: "/r", Hosts: []string{name}, Slots: Slots{100, 100}, MemoryMB: 1 << 20}
}

// remedies returns the commands that end what keeps the job from its slots.
func (l *lifetime) remedies() (commands []Command) {
	if l.j.Suspended {
		commands = append(commands, ResumeJob{job1})
	}
	if until := l.j.Outage.PausedUntil; until != 0 {
		l.now = max(l.now, until)
		commands = append(commands, EndOutagePause{job1})
	}
	for m := range l.s.View().Machines() {
		if m.Lost {
			commands = append(commands, l.join(m.Name))
		}
		if m.Excluded {
			commands = append(commands, AdmitMachine{m.Name, false})
		}
		if m.Unhealthy != "" {
			commands = append(commands, SetHealth{m.Name, ""})
		}
		for _, a := range m.Attempts {
			if a.Suspended() {
				commands = append(commands, ResumeAttempt{a.ID})
			}
		}
	}
	return commands
}

// restoreBackup replaces the cluster by one that is restored from a backup.
func (l *lifetime) restoreBackup() {
	s, err := l.s.Snapshot().Restore()
	must.Do(l.t, err)
	s.MarkRestored(1)
	loadSplits(s)
	l.s = replicate(s, l.s.notZero)
}

// end commits the job, archives it, and fails and retires another one.
func (l *lifetime) end() {
	for _, a := range l.attemptsThat((*Attempt).OnMachine) {
		l.must(ExitAttempt{Attempt: a.ID})
	}
	for _, c := range l.remedies() {
		l.must(c)
	}
	l.must(CommitJob{job1})
	l.s.snapshot(l.t)
	l.must(ArchiveJob{job1, []byte("summary")})
	l.must(submit(1, 0))
	second := l.s.jobs[1].ID
	if task := (TaskID{second, "m", 0}); l.random.IntN(2) == 0 {
		l.must(KillJob{second, "not needed"})
	} else {
		loadSplits(l.s.State)
		l.must(StartJob{second})
		l.must(StartAttempt{Task: task, Machine: l.join("n0").Name, Range: whole})
		l.must(FailAttempt{Attempt: attemptAt(task, l.s.Restores*attemptsPerRestore), Failure: Failure{Cause: "bad", Fatal: true}})
	}
	l.s.snapshot(l.t)
	l.must(CloseJob{second})
	l.must(ArchiveJob{second, []byte("summary")})
	if l.random.IntN(2) == 0 {
		l.must(RetireJob{second})
	}
}
