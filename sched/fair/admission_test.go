package fair

import (
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// oneAtATime returns a cluster of two slots whose pools run one job each, with two jobs in
// one pool, and a policy that observes it.
func oneAtATime(t *testing.T) (first, second *cluster.Job, change func(...cluster.Command)) {
	w, p := newCluster(t), New(Config{Allocations: allocations(t, "<poolMaxJobsDefault>1</poolMaxJobsDefault>")})
	w.Join("m", 2, 0)
	first, second = w.Run(in("a", 4, 0)), w.Run(in("a", 4, 0))
	p.Reset(w.Now, w.PolicyView())
	change = func(commands ...cluster.Command) {
		for _, c := range commands {
			p.Observe(w.Now, w.PolicyView(), w.Apply(c))
		}
		apply(w, p)
		fresh := New(p.conf)
		fresh.Reset(w.Now, w.PolicyView())
		for id, e := range fresh.jobs {
			if known := p.jobs[id]; known.admitted != e.admitted || known.started != e.started || known.suspended != e.suspended {
				t.Errorf("%v is known as %+v, and found as %+v", id, known, e)
			}
		}
	}
	change()
	wantRunning(t, "the first has the place", first, second, 2, 0)
	return first, second, change
}

// wantRunning checks how many map slots two jobs have.
func wantRunning(t *testing.T, when string, a, b *cluster.Job, first, second int) {
	t.Helper()
	one, other := a.Stages[0].Running-len(suspendedMaps(a)), b.Stages[0].Running-len(suspendedMaps(b))
	if one != first || other != second {
		t.Errorf("%s: %d and %d maps run, want %d and %d", when, one, other, first, second)
	}
}

func suspendedMaps(j *cluster.Job) (suspended []*cluster.Attempt) {
	for _, a := range j.Stages[0].Attempts() {
		if a.Suspended() {
			suspended = append(suspended, a)
		}
	}
	return suspended
}

// TestSuspendedJobDoesNotCount suspends a job in a limited pool. It gets its place back when
// it resumes; jobs that have started meanwhile keep running.
func TestSuspendedJobDoesNotCount(t *testing.T) {
	first, second, change := oneAtATime(t)
	change(cluster.SuspendJob{Job: first.ID, PreferSuspend: true})
	wantRunning(t, "it is suspended", first, second, 0, 2)
	change(cluster.ResumeJob{Job: first.ID})
	wantRunning(t, "it is resumed", first, second, 0, 2)
	change(finished(second)...)
	wantRunning(t, "slots are free", first, second, 1, 1)
}

// finished ends the running maps of a job.
func finished(j *cluster.Job) (ends []cluster.Command) {
	for _, task := range j.Stages[0].Tasks {
		if task.State == cluster.TaskRunning {
			id := task.Attempts[len(task.Attempts)-1].ID
			ends = append(ends, cluster.FinishAttempt{Attempt: id, Range: task.Range}, cluster.ExitAttempt{Attempt: id})
		}
	}
	return ends
}

// TestSuspendedJobWaitsForAdmission checks that a job suspended before its start waits for
// its turn after it resumes.
func TestSuspendedJobWaitsForAdmission(t *testing.T) {
	first, second, change := oneAtATime(t)
	change(cluster.SuspendJob{Job: second.ID}, cluster.ResumeJob{Job: second.ID})
	change(finished(first)...)
	wantRunning(t, "the first is not over", first, second, 2, 0)
	change(cluster.KillJob{Job: first.ID})
	wantRunning(t, "its slots are not free yet", first, second, 0, 0)
}

// TestStartedJobsStayAdmitted submits a more urgent job: reduces that wait for maps without
// slots would never give up their own.
func TestStartedJobsStayAdmitted(t *testing.T) {
	first, second, change := oneAtATime(t)
	change(append([]cluster.Command{cluster.SetPriority{Job: second.ID, Priority: 2}}, finished(first)...)...)
	wantRunning(t, "a job has become urgent", first, second, 2, 0)
}

// TestExplainSuspended checks why a suspended job does not run; it does not count as queued.
func TestExplainSuspended(t *testing.T) {
	w, p := newCluster(t), New(Config{Allocations: allocations(t, "<poolMaxJobsDefault>1</poolMaxJobsDefault>")})
	w.Join("m", 2, 0)
	j := w.Run(in("a", 4, 0))
	w.Apply(cluster.SuspendJob{Job: j.ID})
	p.Reset(w.Now, w.PolicyView())
	if progress := p.Explain(w.Now, w.PolicyView(), j); progress[1] != (sched.Detail{Name: "may run", Value: "no: it is suspended"}) {
		t.Errorf("facts are %v", progress)
	}
	for _, pool := range p.Pools(w.Now, w.PolicyView()) {
		if pool.QueuedJobs > 0 {
			t.Errorf("pool %s holds back %d", pool.Name, pool.QueuedJobs)
		}
	}
}
