package chronos

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// twoJobs returns machines a to d with two slots of each kind. Job 1 runs two maps on a, and
// b has the other replica; job 2 runs two maps on each of b, c and d, and more of its maps
// wait.
func twoJobs(t testing.TB, conf Config) *testCluster {
	w := newTestCluster(t, conf)
	w.join("abcd", 2, 2)
	w.start(w.job(1, "ab", "ab"), 0, 0, "aa")
	w.start(w.job(1, "", "", "", "", "", "", "", ""), 0, 0, "bbccdd")
	return w
}

func TestRecoveryStepByStep(t *testing.T) {
	w := twoJobs(t, Config{Preempt: preempt.Config{Map: preempt.Split}})
	w.heartbeat(nil)
	w.expire("a")
	lost := w.Now
	w.want(w.decide())
	if at := w.policy.NextWake(); at <= w.Now || at > lost+DefaultWait {
		t.Errorf("it looks again at %d, not soon after %d", at, w.Now)
	}
	w.heartbeat(map[string]float64{"2m.0": .9, "2m.1": .2, "2m.2": .1})
	w.want(w.settle(), "split 2m.1", "split 2m.0") // beside the input, least progress first
	w.want(w.decide())                             // nothing twice
	w.end("2m.0")
	w.want(w.settle(), "1m.0@b local")
	w.end()
	w.want(w.settle(), "1m.1@b local")
	if w.policy.NextWake() != 0 || len(w.policy.promises) != 0 {
		t.Errorf("all is over, and it wakes at %d with promises %v", w.policy.NextWake(), w.policy.promises)
	}
	for _, j := range []int{1, 2} {
		job := w.View().Job(cluster.JobID{Cluster: "1", Number: j})
		for _, task := range job.Stages[0].Tasks {
			if task.Charged != 0 {
				t.Errorf("%v is charged", task.ID)
			}
		}
	}
}

// TestModes checks that the lost maps take slots in each mode.
func TestModes(t *testing.T) {
	for _, mode := range preempt.Modes {
		w := twoJobs(t, Config{Preempt: preempt.Config{Map: mode}})
		w.expire("a")
		w.Now += 5000
		w.heartbeat(nil)
		got := w.settle()
		switch mode {
		case preempt.Wait:
			w.want(got)
		case preempt.Suspend, preempt.Auto: // the slots are free at once; the attempts resume there when slots are free
			w.want(got, "suspend 2m.0", "suspend 2m.1", "1m.0@b local", "1m.1@b local")
			w.finish(w.View().Machine("b").Attempts[3].ID, 1)
			w.want(w.settle(), "resume 2m.0")
		default:
			w.want(got, string(mode)+" 2m.0", string(mode)+" 2m.1")
		}
	}
}

// TestFalseSuspicion returns a lost machine with the output of a map that is to be
// recovered, while a slot is being freed for it.
func TestFalseSuspicion(t *testing.T) {
	w := newTestCluster(t, Config{})
	w.join("abc", 1, 1)
	first := w.job(1, "ab", "c")
	w.start(first, 0, 0, "ac")
	winner := first.Stages[0].Tasks[0].Attempts[0].ID
	w.finish(winner, 7)
	w.start(w.job(0, "", "", "", ""), 0, 0, "ab")
	w.expire("a")
	w.heartbeat(nil)
	w.want(w.settle(), "kill 2m.1")
	w.do(cluster.JoinMachine{Name: "a", Hosts: []string{"a"}, Slots: cluster.Slots{1, 1}})
	w.do(cluster.RestoreOutput{Attempt: winner, Range: first.Stages[0].Tasks[0].Range, Output: cluster.Manifest{Bytes: 7}})
	w.end()
	w.want(w.settle(), "2m.0@a", "2m.1@b")
}

// TestDoubleFailure loses the machine on which a slot is being freed.
func TestDoubleFailure(t *testing.T) {
	w := newTestCluster(t, Config{})
	w.join("abc", 1, 0)
	w.start(w.job(0, "abc"), 0, 0, "a")
	w.start(w.job(0, "", "", ""), 0, 0, "bc")
	w.expire("a")
	w.heartbeat(map[string]float64{"2m.0": .1})
	w.want(w.settle(), "kill 2m.0")
	w.expire("b")
	w.heartbeat(nil)
	w.want(w.settle(), "kill 2m.1")
	w.end()
	w.want(w.settle(), "1m.0@c local")
}

// TestReducesGoWhereMapsHaveWritten checks that a reduce takes the slot of another job's
// attempt near most of its input.
func TestReducesGoWhereMapsHaveWritten(t *testing.T) {
	w := newTestCluster(t, Config{Preempt: preempt.Config{Reduce: preempt.Checkpoint}})
	w.join("abc", 2, 1)
	first, second := w.job(1, "b", "c"), w.job(2, "b", "c")
	for _, j := range []*cluster.Job{first, second} {
		w.start(j, 0, 0, "bc")
	}
	for n, bytes := range []int64{10, 90} {
		w.finish(first.Stages[0].Tasks[n].Attempts[0].ID, bytes)
		w.finish(second.Stages[0].Tasks[n].Attempts[0].ID, 1)
	}
	w.start(first, 1, 0, "a")
	w.start(second, 1, 0, "bc")
	w.expire("a")
	w.want(w.decide())
	w.heartbeat(map[string]float64{"2r.0": .1})
	better := second.Stages[1].Tasks[1].Attempts[0].ID
	said := w.reports[better]
	delete(w.reports, better)
	w.want(w.decide()) // a report may arrive
	w.reports[better] = said
	w.want(w.settle(), "checkpoint 2r.1")
	w.end()
	w.want(w.settle(), "1r.0@c")
}

// TestNewMasterKeepsPromises resets the policy while slots are being freed. The new policy
// preempts no more attempts, and starts the same tasks.
func TestNewMasterKeepsPromises(t *testing.T) {
	w := newTestCluster(t, Config{})
	w.join("abcd", 1, 0)
	w.start(w.job(0, "abc", "db"), 0, 0, "ad")
	w.start(w.job(0, "", "", "", ""), 0, 0, "bc")
	w.expire("d")
	w.heartbeat(nil)
	w.want(w.settle(), "kill 2m.0") // on b, the only place of map 1
	w.expire("a")
	w.heartbeat(nil)
	w.want(w.settle(), "kill 2m.1") // on c, so that map 0 must not be promised b now
	w.policy.Reset(w.Now, w.PolicyView())
	w.want(w.settle())
	w.end()
	got := w.settle()
	slices.Sort(got)
	w.want(got, "1m.0@c local", "1m.1@b local")
}

// TestExplain checks what lost tasks wait for.
func TestExplain(t *testing.T) {
	w := twoJobs(t, Config{Preempt: preempt.Config{Map: preempt.Split}})
	first := w.View().Job(cluster.JobID{Cluster: "1", Number: 1})
	explained := func(want string) {
		t.Helper()
		w.decide()
		progress := slices.DeleteFunc(w.policy.Explain(w.Now, w.PolicyView(), first), func(f sched.Detail) bool { return !strings.HasPrefix(f.Name, "recovery") })
		if want == "" && len(progress) == 0 {
			return
		}
		if len(progress) != 2 || progress[0].Name != "recovery of "+first.Stages[0].Tasks[0].ID.String() || !strings.Contains(progress[0].Value, want) {
			t.Errorf("explained by %q, want %q", progress, want)
		}
	}
	explained("")
	w.expire("a")
	explained("waits for fresh heartbeats")
	w.heartbeat(nil)
	explained("slot on b by splitting " + w.View().Machine("b").Attempts[0].ID.String())
	w.settle()
	explained("slot on b by splitting")
	w.expire("b")
	explained("no machine that is left has its input")
}

// TestPrecedes checks that the wrapped policy's order is forwarded, or else the order of
// submission.
func TestPrecedes(t *testing.T) {
	w := twoJobs(t, Config{Inner: new(backwards)})
	first, second := w.View().Job(cluster.JobID{Cluster: "1", Number: 1}), w.View().Job(cluster.JobID{Cluster: "1", Number: 2})
	if w.policy.Precedes(0, w.PolicyView(), cluster.MapSlot, first, second) || !w.policy.Precedes(0, w.PolicyView(), cluster.MapSlot, second, first) {
		t.Error("the wrapped policy is not asked")
	}
	p := New(Config{Inner: plain{}})
	if !p.Precedes(0, w.PolicyView(), cluster.MapSlot, first, second) || p.Precedes(0, w.PolicyView(), cluster.MapSlot, second, first) {
		t.Error("without a precedence it is not that of submission")
	}
}

// plain is a policy without optional interfaces, which starts nothing.
type plain struct{}

func (plain) Reset(int64, sched.View)                  {}
func (plain) Observe(int64, sched.View, cluster.Delta) {}
func (plain) Decide(int64, sched.View) sched.Plan      { return sched.Plan{} }
func (plain) NextWake() int64                          { return 0 }

// backwards prefers the job that was submitted last.
type backwards struct{ plain }

func (backwards) Precedes(_ int64, _ sched.View, _ cluster.Slot, a, b *cluster.Job) bool {
	return compareSubmission(a, b) > 0
}

// sharing gives all jobs equal shares: a job below its share precedes one above its own.
type sharing struct {
	*fifo.Policy
	share int
}

func (s sharing) Precedes(_ int64, _ sched.View, _ cluster.Slot, a, b *cluster.Job) bool {
	return s.has(a) < s.share && s.has(b) > s.share
}

// has counts the attempts of a job that keep running.
func (s sharing) has(j *cluster.Job) (n int) {
	for _, a := range j.Stages[0].Attempts() {
		if a.State == cluster.AttemptRunning {
			n++
		}
	}
	return n
}

// TestStopsWhenTheObjectiveIsMet loses four maps of a job that is then below its share. The
// other job keeps its own share.
func TestStopsWhenTheObjectiveIsMet(t *testing.T) {
	for _, mode := range []preempt.Mode{preempt.Kill, preempt.Split, preempt.Suspend} {
		w := newTestCluster(t, Config{Inner: sharing{fifo.New(sched.Placement{}), 5}, Preempt: preempt.Config{Map: mode}})
		w.join("abc", 4, 0)
		w.start(w.job(0, "ab", "ab", "ab", "ab"), 0, 0, "aaaa")
		second := w.job(0, make([]string, 8)...)
		w.start(second, 0, 0, "bbbbcccc")
		w.expire("a")
		w.heartbeat(nil)
		w.settle()
		if left := (sharing{}).has(second); left != 5 {
			t.Errorf("%s: the other job is left with %d slots, of which 5 are its own", mode, left)
		}
	}
}
