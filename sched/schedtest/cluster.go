// Package schedtest provides clusters for the tests of policies: a Cluster that a test
// drives by hand, a RandomCluster whose tasks run in virtual time, and a ModelTest that
// applies random commands. All of them contain only a cluster.State: plans are applied like
// any other commands.
package schedtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
)

// Cluster is a cluster that tests drive by hand: commands are applied at once, without a log
// or a controller, and only the test advances the time.
type Cluster struct {
	T     testing.TB     // fails on a refused command
	State *cluster.State // empty at first
	Now   int64          // ms; each Apply adds one

	SoftState sched.SoftState // what policies see as soft state
}

// New returns an empty cluster. Its id is "1", so its first job is job_1_0001.
func New(t testing.TB) *Cluster { return &Cluster{T: t, State: cluster.New("1")} }

// View returns the state. The view also shows later changes.
func (w *Cluster) View() cluster.View { return w.State.View() }

// PolicyView returns what a policy sees. Without SoftState no progress is known.
func (w *Cluster) PolicyView() sched.View {
	return sched.View{View: w.State.View(), SoftState: w.SoftState}
}

// Apply applies a command, which must not be refused. It fails the test otherwise: tests
// of refusals call State.Apply.
func (w *Cluster) Apply(c cluster.Command) cluster.Delta {
	w.T.Helper()
	w.Now++
	delta, err := w.State.Apply(cluster.Entry{At: w.Now, Command: c})
	if err != nil {
		w.T.Fatalf("%T %+v: %v", c, c, err)
	}
	return delta
}

// Join adds a machine whose host has the same name. A known machine joins again, with the
// new slots.
func (w *Cluster) Join(name string, maps, reduces int) {
	w.T.Helper()
	w.Apply(cluster.JoinMachine{Name: name, Hosts: []string{name}, Slots: cluster.Slots{maps, reduces}})
}

// Spec returns the spec of a job whose reduces wait for all maps. A task may be tried
// four times, as in Hadoop.
func Spec(g dag.Graph) cluster.JobSpec {
	return cluster.JobSpec{Graph: g, MaxAttempts: [2]int{4, 4}, SlowStartPPM: 1_000_000}
}

// Run starts a job. Its split i lies on hosts[i]; splits with "" or beyond hosts have no
// hosts. Each split has one byte, so the number of remote splits is the cost of a
// placement. Its tasks wait for slots when Run returns.
func (w *Cluster) Run(spec cluster.JobSpec, hosts ...string) *cluster.Job {
	w.T.Helper()
	id := w.Apply(cluster.SubmitJob{Spec: spec}).Submitted
	splits := make([]cluster.Split, sources(spec.Graph))
	for i, host := range hosts {
		if host != "" {
			splits[i] = cluster.Split{Hosts: []string{host}, Bytes: 1}
		}
	}
	if err := w.State.Load(id, splits); err != nil {
		w.T.Fatal(err)
	}
	w.Apply(cluster.StartJob{Job: id})
	return w.View().Job(id)
}

// sources returns the number of splits that a job of the graph reads.
func sources(g dag.Graph) (n int) {
	for _, s := range g.Stages {
		if g.IsSource(s.Name) {
			n += s.Nodes
		}
	}
	return n
}

// Start gives a slot to a task that starts alone, as a policy would. It returns the
// attempt.
func (w *Cluster) Start(j *cluster.Job, stage, number int, machine string) cluster.AttemptID {
	w.T.Helper()
	t := j.Stages[stage].Tasks[number]
	w.Apply(cluster.StartAttempt{Task: t.ID, Machine: machine, Range: j.RangeOf(t)})
	return t.Attempts[len(t.Attempts)-1].ID
}

// Plan resets a policy and returns its plan. Since Reset rebuilds all caches, a policy that
// has observed every change must return the same plan.
func (w *Cluster) Plan(p sched.Policy) sched.Plan {
	p.Reset(w.Now, w.PolicyView())
	return p.Decide(w.Now, w.PolicyView())
}

// Lines formats the starts of a plan, bundles in braces, for comparison with what a test
// expects:
//
//	1m.0@b local              map 0 of job 1 starts on b, where its split lies
//	{1m.0@a, 1r.0@b}          a gang starts
//	{1m.0, 1r.0 resume}       a suspended gang resumes
func Lines(plan sched.Plan) (out []string) {
	line := func(s sched.Start) string {
		text := fmt.Sprintf("%d%s.%d@%s", s.Task.Job.Number, s.Task.Stage, s.Task.Number, s.Machine)
		switch {
		case s.Local:
			text += " local"
		case s.RackLocal:
			text += " rack"
		}
		return text
	}
	for _, s := range plan.Starts {
		out = append(out, line(s))
	}
	for _, b := range plan.Bundles {
		var members []string
		for _, s := range b.Starts {
			members = append(members, line(s))
		}
		out = append(out, "{"+strings.Join(members, ", ")+"}")
	}
	for _, b := range plan.BundleResumes {
		var members []string
		for _, id := range b.Attempts {
			members = append(members, fmt.Sprintf("%d%s.%d", id.Task.Job.Number, id.Task.Stage, id.Task.Number))
		}
		out = append(out, "{"+strings.Join(members, ", ")+" resume}")
	}
	return out
}

// FullKnowledge is soft state in which every attempt is half done. With it, no attempt is
// exempt from preemption for unknown progress.
type FullKnowledge struct{}

// Progress implements sched.SoftState.
func (FullKnowledge) Progress(cluster.AttemptID) (sched.Progress, bool) {
	return sched.Progress{ReportedAt: 1, Fraction: .5}, true
}
