package schedtest

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"pgregory.net/rapid"
)

// ModelTest applies random commands to a cluster under a policy: all that users, machines
// and attempts may do, in any order. The policy observes each change. After each step, a
// test compares it with a policy that is Reset, or with a dumb twin:
//
//	submit, join, expire, finish, fail, suspend, … ──► state ──► Observe
//	                     plan ──► Commands, none of which may be refused
type ModelTest struct {
	LimitMemory bool                   // tasks take memory, and machines have a limited amount of it
	*Cluster                           // Now advances by 1 with each command, and the time of entries by 1/3
	Random      *rapid.T               // draws the commands, so that failures shrink
	Policy      sched.Policy           // policy under test; the caller resets it first
	Draw        func(*cluster.JobSpec) // changes the spec of a job before it is submitted; may be nil
}

// Try applies a command that may be refused, and reports whether it was applied. Time
// advances by a third of a ms, so that some commands happen at the same time.
func (l *ModelTest) Try(c cluster.Command) bool {
	l.Now++
	delta, err := l.State.Apply(cluster.Entry{At: l.Now / 3, Command: c})
	if err == nil {
		l.Policy.Observe(l.Now, l.PolicyView(), delta)
	}
	return err == nil
}

// submit submits a random job and starts it. Its tasks never run out of tries, so that a
// job does not end before the test has seen enough of it. Two failures on a machine make
// the job avoid it.
func (l *ModelTest) submit() {
	l.Now++
	s := Spec(DrawGraph(l.Random))
	s.Priority = rapid.IntRange(0, 1).Draw(l.Random, "priority")
	s.SlowStartPPM = rapid.SampledFrom([]int{0, 500_000, 1_000_000}).Draw(l.Random, "slow start")
	s.MaxAttempts, s.MaxMachineFailures = [2]int{99, 99}, 2
	for kind := range s.MemoryMB {
		s.MemoryMB[kind] = l.drawMemory(4)
	}
	if l.Draw != nil {
		l.Draw(&s)
	}
	delta, err := l.State.Apply(cluster.Entry{At: l.Now / 3, Command: cluster.SubmitJob{Spec: s}})
	if err != nil {
		l.Random.Fatal(err)
	}
	l.Policy.Observe(l.Now, l.PolicyView(), delta)
	LoadAll(l.Random, l.State)
	l.Try(cluster.StartJob{Job: delta.Submitted})
}

// drawMemory draws the memory of a task or a machine in MiB, at most most; 0 without LimitMemory.
func (l *ModelTest) drawMemory(most int64) int64 {
	if !l.LimitMemory {
		return 0
	}
	return rapid.Int64Range(0, most).Draw(l.Random, "memory")
}

// Step applies a random command. A plan is applied as a whole, and a refused command of a
// plan fails the test: a policy must not plan what the state does not accept.
func (l *ModelTest) Step() {
	machine := rapid.SampledFrom([]string{"m0", "m1", "m2"}).Draw(l.Random, "machine")
	m := l.View().Machine(machine)
	switch verb := rapid.SampledFrom([]string{"join", "submit", "submit", "plan", "plan", "plan", "finish", "finish", "finish", "fail", "expire", "kill", "suspend", "resume", "preempt", "checkpoint", "checkpoint"}).Draw(l.Random, "verb"); {
	case verb == "join":
		l.Try(cluster.JoinMachine{
			Name: machine, Hosts: []string{machine}, Rack: "/" + machine[:1+rapid.IntRange(0, 1).Draw(l.Random, "rack")],
			Slots:    cluster.Slots{rapid.IntRange(0, 4).Draw(l.Random, "maps"), rapid.IntRange(0, 3).Draw(l.Random, "reduces")},
			MemoryMB: l.drawMemory(8),
		})
	case verb == "submit":
		l.submit()
	case verb == "plan":
		plan := l.Policy.Decide(l.Now, l.PolicyView())
		if err := plan.Check(l.PolicyView()); err != nil {
			l.Random.Fatal(err)
		}
		for _, c := range plan.Commands(l.View()) {
			if !l.Try(c) {
				l.Random.Fatalf("refused: %+v", c)
			}
		}
	case m == nil || len(m.Attempts) == 0:
	case verb == "finish":
		a := m.Attempts[rapid.IntRange(0, len(m.Attempts)-1).Draw(l.Random, "attempt")]
		if !l.Try(cluster.FinishAttempt{Attempt: a.ID}) {
			l.Try(cluster.ExitAttempt{Attempt: a.ID})
		}
	case verb == "fail":
		l.Try(cluster.FailAttempt{Attempt: m.Attempts[0].ID, Failure: cluster.Failure{Cause: "bad"}})
	case verb == "expire":
		l.Try(cluster.ExpireMachine{Name: machine, Epoch: m.Epoch})
	case verb == "suspend":
		l.Try(cluster.PreemptAttempt{Attempt: m.Attempts[rapid.IntRange(0, len(m.Attempts)-1).Draw(l.Random, "attempt")].ID, Mode: preempt.Suspend})
	case verb == "resume":
		l.Try(cluster.ResumeAttempt{Attempt: m.Attempts[rapid.IntRange(0, len(m.Attempts)-1).Draw(l.Random, "attempt")].ID})
	case verb == "preempt":
		l.Try(cluster.PreemptAttempt{Attempt: m.Attempts[0].ID, Mode: preempt.Checkpoint})
	case verb == "checkpoint":
		if a := m.Attempts[rapid.IntRange(0, len(m.Attempts)-1).Draw(l.Random, "attempt")]; a.Preempting() {
			l.Try(cluster.CheckpointAttempt{Attempt: a.ID})
		}
	case verb == "kill":
		l.Try(cluster.KillAttempt{Attempt: m.Attempts[0].ID, Cause: "test"})
	}
}

// StateAfter returns a copy of the cluster with a plan applied, which must be accepted as a
// whole. The original does not change, so a test can check what would happen. The copy is
// made by a snapshot, which checks that a restored state accepts the plan, too.
func (l *ModelTest) StateAfter(plan sched.Plan) cluster.View {
	twin, err := l.State.Snapshot().Restore()
	if err != nil {
		l.Random.Fatal(err)
	}
	LoadAll(l.Random, twin)
	for _, c := range plan.Commands(twin.View()) {
		if _, err := twin.Apply(cluster.Entry{At: 1 << 40, Command: c}); err != nil {
			l.Random.Fatalf("%+v: %v\nof plan %q", c, err, Lines(plan))
		}
	}
	if err := twin.CheckInvariants(); err != nil {
		l.Random.Fatal(err)
	}
	return twin.View()
}

// WaitsUncharged reports whether a task of a stage waits that no machine has failed. One that has
// failed may wait for another machine.
func WaitsUncharged(s *cluster.Stage) bool {
	for t := range s.Pending() {
		if t.Charged == 0 {
			return true
		}
	}
	return false
}
