package chronos

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/schedtest"
)

// testCluster is a cluster under Chronos that a test drives by hand.
type testCluster struct {
	*schedtest.Cluster
	reports reports
	policy  *Policy
}

// reports is the progress reports of attempts.
type reports map[cluster.AttemptID]sched.Progress

func (h reports) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	p, ok := h[id]
	return p, ok
}

// newTestCluster returns a cluster with Chronos around FIFO.
func newTestCluster(t testing.TB, conf Config) *testCluster {
	if conf.Inner == nil {
		conf.Inner = fifo.New(sched.Placement{})
	}
	w := &testCluster{Cluster: schedtest.New(t), reports: make(reports), policy: New(conf)}
	w.SoftState = w.reports
	w.policy.Reset(w.Now, w.PolicyView())
	return w
}

// do applies a command that the policy observes.
func (w *testCluster) do(c cluster.Command) cluster.Delta {
	w.T.Helper()
	delta := w.Apply(c)
	w.policy.Observe(w.Now, w.PolicyView(), delta)
	return delta
}

// join adds machines, named by letters, with equal slots.
func (w *testCluster) join(names string, maps, reduces int) {
	for _, name := range strings.Split(names, "") {
		w.do(cluster.JoinMachine{Name: name, Hosts: []string{name}, Slots: cluster.Slots{maps, reduces}})
	}
}

// job runs a job; the machines of split i are the letters of hosts[i].
func (w *testCluster) job(reduces int, hosts ...string) *cluster.Job {
	w.T.Helper()
	id := w.do(cluster.SubmitJob{Spec: schedtest.Spec(dag.MapReduce(len(hosts), reduces))}).Submitted
	splits := make([]cluster.Split, len(hosts))
	for i, names := range hosts {
		splits[i] = cluster.Split{Bytes: 1, Range: dag.Range{End: dag.Position{Offset: 100}}}
		if names != "" {
			splits[i].Hosts = strings.Split(names, "")
		}
	}
	must.Do(w.T, w.State.Load(id, splits))
	w.do(cluster.StartJob{Job: id})
	return w.View().Job(id)
}

// start starts tasks of a stage, one on each machine named by a letter.
func (w *testCluster) start(j *cluster.Job, stage, first int, machines string) {
	w.T.Helper()
	for i, name := range strings.Split(machines, "") {
		t := j.Stages[stage].Tasks[first+i]
		w.do(cluster.StartAttempt{Task: t.ID, Machine: name, Range: j.RangeOf(t)})
	}
}

func (w *testCluster) finish(id cluster.AttemptID, bytes int64) {
	w.T.Helper()
	_, t, _, _ := w.View().Attempt(id)
	w.do(cluster.FinishAttempt{Attempt: id, Range: t.Range, Output: cluster.Manifest{Bytes: bytes}})
}

func (w *testCluster) expire(name string) {
	w.T.Helper()
	w.do(cluster.ExpireMachine{Name: name, Epoch: w.View().Machine(name).Epoch})
}

// heartbeat lets all attempts report, a moment later, that half of their work is done, or the
// fractions given by short name.
func (w *testCluster) heartbeat(fractions map[string]float64) {
	w.Now += 10
	for m := range w.View().Machines() {
		for _, a := range m.Attempts {
			done := .5
			if f, ok := fractions[short(a.ID)]; ok {
				done = f
			}
			w.reports[a.ID] = sched.Progress{ReportedAt: w.Now, Fraction: done}
		}
	}
}

// short returns an attempt's short name: "2m.0".
func short(id cluster.AttemptID) string {
	return fmt.Sprintf("%d%s.%d", id.Task.Job.Number, id.Task.Stage, id.Task.Number)
}

// decide formats the plan of the policy: preemptions, then resumes, then starts.
func (w *testCluster) decide() (lines []string) {
	w.T.Helper()
	plan := w.policy.Decide(w.Now, w.PolicyView())
	return linesOf(plan)
}

func linesOf(plan sched.Plan) (lines []string) {
	for _, p := range plan.Preempts {
		lines = append(lines, fmt.Sprintf("%s %s", p.Mode, short(p.Attempt)))
	}
	for _, id := range plan.Resumes {
		lines = append(lines, "resume "+short(id))
	}
	return append(lines, schedtest.Lines(plan)...)
}

// settle applies plans until one is empty, and returns all of them.
func (w *testCluster) settle() (lines []string) {
	w.T.Helper()
	for round := 0; ; round++ {
		plan := w.policy.Decide(w.Now, w.PolicyView())
		commands := plan.Commands(w.View())
		if len(commands) == 0 {
			return lines
		}
		if round > 100 {
			w.T.Fatal("it plans without end")
		}
		lines = append(lines, linesOf(plan)...)
		for _, c := range commands {
			w.do(c)
		}
	}
}

// end ends the attempts that are ordered to end, or, if no names are given, all such
// attempts on a machine.
func (w *testCluster) end(names ...string) {
	w.T.Helper()
	for m := range w.View().Machines() {
		for _, a := range slices.Clone(m.Attempts) {
			ordered := !a.Active() || a.Preempting()
			if ordered && (len(names) == 0 || slices.Contains(names, short(a.ID))) {
				w.do(cluster.ExitAttempt{Attempt: a.ID})
			}
		}
	}
}

func (w *testCluster) want(got []string, want ...string) {
	w.T.Helper()
	if !slices.Equal(got, want) {
		w.T.Errorf("got %q, want %q", got, want)
	}
}
