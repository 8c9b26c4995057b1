package board

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"pgregory.net/rapid"
)

// randomCluster draws commands for a small cluster, most of them valid.
type randomCluster struct {
	*rapid.T
	random *rand.Rand
	state  *cluster.State
	view   cluster.View
	jobs   int // jobs that were submitted
	at     int64
}

func newRandomCluster(t *rapid.T) *randomCluster {
	seed := rapid.Uint64().Draw(t, "seed") // rapid itself draws the first of a list too often
	c := &randomCluster{T: t, state: cluster.New("1"), random: rand.New(rand.NewPCG(seed, 0))}
	c.view = c.state.View()
	return c
}

// pick returns one of the elements of a list, each with the same probability.
func pick[E any](c *randomCluster, list []E) E { return list[c.random.IntN(len(list))] }

// between returns a number from low to high, both included.
func (c *randomCluster) between(low, high int) int { return low + c.random.IntN(high-low+1) }

// steps is the number of commands of a test.
const steps = 300

// apply draws an entry and applies it. ok is false if the state has refused it.
func (c *randomCluster) apply() (e cluster.Entry, delta cluster.Delta, ok bool) {
	c.at += int64(c.between(0, 5))
	if c.jobs == 0 {
		return c.applyCommand(cluster.SubmitJob{Spec: c.spec()})
	}
	for _, name := range machines {
		if c.view.Machine(name) == nil {
			return c.applyCommand(cluster.JoinMachine{Name: name, Instance: "x", Slots: cluster.Slots{3, 3}})
		}
	}
	return c.applyCommand(c.draw())
}

var machines = []string{"n0", "n1", "n2"}

func (c *randomCluster) applyCommand(command cluster.Command) (e cluster.Entry, delta cluster.Delta, ok bool) {
	e = cluster.Entry{At: 1000 + c.at, Command: command}
	delta, err := c.state.Apply(e)
	if _, submitted := command.(cluster.SubmitJob); submitted && err == nil {
		c.jobs++
		c.load(cluster.JobID{Cluster: "1", Number: c.jobs})
	}
	return e, delta, err == nil
}

// load makes the splits of a job known: 100 bytes each.
func (c *randomCluster) load(id cluster.JobID) {
	n, g := 0, c.view.Job(id).Spec.Graph
	for _, s := range g.Stages {
		if g.IsSource(s.Name) {
			n += s.Nodes
		}
	}
	splits := make([]cluster.Split, n)
	for i := range splits {
		splits[i] = cluster.Split{Range: dag.Range{End: dag.Position{Offset: 100}}, Bytes: 100}
	}
	must.Do(c, c.state.Load(id, splits))
}

var verbs = []string{
	"submit", "begin", "begin", "start", "start", "start", "start", "start", "start", "bundle", "bundle", "bundle", "bundle", "finish", "finish", "finish", "fail", "exit", "exit",
	"lose", "move", "move checkpoint", "split", "split", "preempt", "preempt", "decline", "suspend", "suspend", "resume", "migrate", "checkpoint", "checkpoint", "end job", "suspend job",
	"resume job", "commit", "commit", "close", "join", "join", "expire", "restore", "priority", "pool", "pools", "admit", "drain", "forget", "retire", "archive", "kill attempt",
	"preempt by kill", "speculate",
}

func (c *randomCluster) draw() cluster.Command {
	verb := pick(c, verbs)
	switch verb {
	case "submit":
		if c.random.IntN(3) > 0 {
			return cluster.StartJob{Job: cluster.JobID{Cluster: "1", Number: c.jobs}}
		}
		return cluster.SubmitJob{Spec: c.spec()}
	case "join":
		return cluster.JoinMachine{Name: c.machine(), Instance: pick(c, []string{"x", "x", "x", "x", "x", "y"}), Slots: cluster.Slots{3, 3}}
	case "expire":
		return cluster.ExpireMachine{Name: c.machine(), Epoch: c.between(1, 2)}
	case "forget":
		return cluster.ForgetMachine{Name: c.machine(), Epoch: c.between(1, 2)}
	case "admit":
		return cluster.AdmitMachine{Name: c.machine()}
	case "drain":
		return cluster.DrainMachine{Name: c.machine(), Cause: "maintenance"}
	case "pools":
		return cluster.SetPools{Names: []string{"a"}}
	case "start", "speculate":
		return c.start(verb)
	case "bundle":
		return c.bundle()
	case "begin", "end job", "suspend job", "resume job", "commit", "close", "priority", "pool", "retire", "archive":
		return c.jobCommand(verb)
	}
	return c.attemptCommand(verb)
}

func (c *randomCluster) spec() cluster.JobSpec {
	return cluster.JobSpec{
		Graph: c.graph(), Name: "job", User: "u", MaxAttempts: [2]int{c.between(1, 4), 3}, SlowStartPPM: pick(c, []int{0, 1_000_000}),
	}
}

func (c *randomCluster) graph() dag.Graph {
	g := dag.MapReduce(c.between(1, 3), c.between(0, 2))
	if len(g.Stages) == 2 && c.between(0, 2) == 0 {
		g.Stages[1].Nodes = g.Stages[0].Nodes
		g.Edges[0].Channel, g.Edges[0].Connection = dag.ChannelTCP, dag.OneToOne
		if g.Validate() != nil {
			c.Fatal(g.Validate())
		}
	}
	return g
}

func (c *randomCluster) machine() string {
	return pick(c, machines)
}

// job draws one of the last jobs, most often one that runs.
func (c *randomCluster) job() cluster.JobID {
	id := cluster.JobID{Cluster: "1", Number: c.between(max(c.jobs-2, 1), c.jobs)}
	for j := range c.view.Jobs() {
		if j.State == cluster.JobRunning && c.random.IntN(4) > 0 {
			return j.ID
		}
	}
	return id
}

func (c *randomCluster) jobCommand(verb string) cluster.Command {
	id := c.job()
	switch verb {
	case "begin":
		return cluster.StartJob{Job: id}
	case "end job":
		if c.random.IntN(3) > 0 {
			return cluster.CloseJob{Job: id}
		}
		if c.random.IntN(2) == 0 {
			return cluster.KillJob{Job: id, Cause: "because"}
		}
		return cluster.FailJob{Job: id, Cause: "broken"}
	case "suspend job":
		return cluster.SuspendJob{Job: id, Cause: "later", PreferSuspend: (c.random.IntN(2) == 0), Split: (c.random.IntN(2) == 0)}
	case "resume job":
		return cluster.ResumeJob{Job: id}
	case "commit":
		return cluster.CommitJob{Job: id}
	case "close":
		return cluster.CloseJob{Job: id}
	case "priority":
		return cluster.SetPriority{Job: id, Priority: 1}
	case "pool":
		return cluster.SetPool{Job: id, Pool: pick(c, []string{"a", "default"})}
	case "retire":
		return cluster.RetireJob{Job: id}
	}
	return cluster.ArchiveJob{Job: id, Summary: []byte("archived")}
}

// task draws a task for which fits is true, if there is one.
func (c *randomCluster) task(fits func(t *cluster.Task) bool) (id cluster.TaskID) {
	var fitting, all []cluster.TaskID
	j := c.view.Job(c.job())
	if j == nil {
		return id
	}
	for _, s := range j.Stages {
		for _, t := range s.Tasks {
			all = append(all, t.ID)
			if fits(t) {
				fitting = append(fitting, t.ID)
			}
		}
	}
	if len(fitting) > 0 {
		all = fitting
	}
	if len(all) == 0 {
		return id
	}
	return pick(c, all)
}

func runs(t *cluster.Task) bool { return t.State == cluster.TaskRunning }

func (c *randomCluster) start(verb string) cluster.Command {
	machine := c.machine()
	if verb == "speculate" {
		return cluster.SpeculateTask{Task: c.task(runs), Machine: machine}
	}
	id := c.task(waits)
	s := cluster.StartAttempt{Task: id, Machine: machine, Local: (c.random.IntN(2) == 0)}
	if j, _, t, known := c.view.Task(id); known {
		s.Range = j.RangeOf(t)
	}
	return s
}

// bundle starts a gang.
func (c *randomCluster) bundle() cluster.Command {
	id := c.job()
	j := c.view.Job(id)
	if j == nil || j.Archived {
		return cluster.StartBundle{Job: id}
	}
	b := j.Bundles[0]
	start := cluster.StartBundle{Job: id, Number: c.between(0, b.Count-1)}
	for _, t := range b.WaitingIn(start.Number) {
		start.Starts = append(start.Starts, cluster.StartAttempt{Task: t.ID, Machine: c.machine(), Range: j.RangeOf(t)})
	}
	return start
}

// suitable returns whether a command is likely to be accepted for an attempt.
func suitable(verb string) func(t *cluster.Task, a *cluster.Attempt) bool {
	return func(t *cluster.Task, a *cluster.Attempt) bool {
		switch verb {
		case "exit":
			return a.OnMachine() && !a.Active()
		case "decline":
			return a.Preempting()
		case "resume", "migrate":
			return a.Suspended()
		case "lose", "move":
			return t.Winner == a
		case "restore":
			return a.Lost() && t.Winner == nil
		case "move checkpoint":
			return t.CheckpointOf(a.ID) != nil
		}
		return a.Active()
	}
}

// attemptCommand draws a command about an attempt.
func (c *randomCluster) attemptCommand(verb string) cluster.Command {
	fits := suitable(verb)
	id := cluster.AttemptID{Task: c.task(func(t *cluster.Task) bool {
		return slices.ContainsFunc(t.Attempts, func(a *cluster.Attempt) bool { return fits(t, a) })
	})}
	var owned dag.Range
	if _, _, t, known := c.view.Task(id.Task); known && len(t.Attempts) > 0 {
		owned = t.Range
		a := pick(c, t.Attempts)
		for _, other := range t.Attempts {
			if fits(t, other) && !fits(t, a) {
				a = other
			}
		}
		id.Number = a.ID.Number
	}
	switch verb {
	case "finish":
		return cluster.FinishAttempt{Attempt: id, Range: owned, Output: cluster.Manifest{Bytes: 7, Records: 2}, Counters: counters(3)}
	case "restore":
		return cluster.RestoreOutput{Attempt: id, Range: owned, Output: cluster.Manifest{Bytes: 7, Records: 2}, Counters: counters(3)}
	case "fail":
		return cluster.FailAttempt{Attempt: id, Failure: cluster.Failure{Cause: "bad"}, Uncharged: (c.random.IntN(2) == 0),
			OnMachine: (c.random.IntN(2) == 0), BadCheckpoint: (c.random.IntN(2) == 0)}
	case "exit":
		return cluster.ExitAttempt{Attempt: id, Cause: "by request"}
	case "lose":
		return cluster.LoseOutput{Attempt: id, Cause: "unreadable"}
	case "move":
		return cluster.MoveOutput{Attempt: id, Machine: c.machine()}
	case "move checkpoint":
		return cluster.MoveCheckpoint{Attempt: id, Machine: c.machine(), Path: "m", Bytes: 5}
	case "split":
		return cluster.SplitTask{Attempt: id, At: dag.Position{Offset: owned.Start.Offset + int64(c.between(1, 50))}}
	case "preempt":
		return cluster.PreemptAttempt{Attempt: id, Mode: pick(c, []preempt.Mode{preempt.Split, preempt.Checkpoint}), For: c.beneficiary()}
	case "suspend":
		return cluster.PreemptAttempt{Attempt: id, Mode: preempt.Suspend, For: c.beneficiary()}
	case "preempt by kill":
		return cluster.PreemptAttempt{Attempt: id, Mode: preempt.Kill, For: c.beneficiary()}
	case "decline":
		return cluster.DeclinePreemption{Attempt: id}
	case "resume":
		return cluster.ResumeAttempt{Attempt: id}
	case "migrate":
		return cluster.MoveAttempt{Attempt: id}
	case "checkpoint":
		return cluster.CheckpointAttempt{Attempt: id, Checkpoint: cluster.Checkpoint{Path: "c", Bytes: 5}}
	case "kill attempt":
		return cluster.KillAttempt{Attempt: id, Cause: "enough"}
	}
	panic(fmt.Sprintf("no command for %q", verb))
}

var inputRecords = cluster.CounterName{Group: "g", Name: "in"}

func counters(n int64) []cluster.Counter {
	return []cluster.Counter{{CounterName: inputRecords, Value: n}}
}

// beneficiary draws who gets a slot: a job, which may be unknown, a pool, or neither.
func (c *randomCluster) beneficiary() (b cluster.Beneficiary) {
	switch c.random.IntN(3) {
	case 0:
		b.Job = cluster.JobID{Cluster: "1", Number: c.between(1, c.jobs+1)}
	case 1:
		b.Pool = pick(c, []string{"a", "b"})
	}
	return b
}
