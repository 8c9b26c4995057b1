package drill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestAllOfAFailedJobIsLost checks that all files count as lost if a job fails or its output
// cannot be read.
func TestAllOfAFailedJobIsLost(t *testing.T) {
	plan := chaos.NewPlan()
	plan.Jobs = []chaos.Job{{Name: "j", Program: "wordcount"}}
	expected := testcluster.Output{"part-0": []byte("abc"), "part-1": []byte("de")}
	for state, want := range map[wire.JobState]string{
		wire.JobState_FAILED: "job j is FAILED", wire.JobState_SUCCEEDED: "no such file", wire.JobState_RUNNING: "job j is RUNNING",
	} {
		d := &drill{
			session: &Session{expectedOutputs: map[string]testcluster.Output{"/in wordcount": expected}}, plan: plan, at: dataPlace{dir: "/in"},
			outs: []string{filepath.Join(t.TempDir(), "none")}, watch: newWatch(nil, []string{"job_1"}),
		}
		d.watch.update(&wire.JobStatus{JobId: "job_1", State: state}, time.Now())
		r, wrong := d.judgeJob(t.Context(), 0, plan.Jobs[0])
		if r.Lost != 2 || r.Bytes != 0 || len(wrong) != 1 || !strings.Contains(wrong[0], want) {
			t.Errorf("%v: %+v, %q", state, r, wrong)
		}
	}
}

// TestEachKindHasAnInjector checks that each kind can be injected into each of its targets.
func TestEachKindHasAnInjector(t *testing.T) {
	for _, kind := range chaos.Kinds() {
		in := chaos.SpecOf(kind)
		for _, target := range []string{"task any", "tasknode 1"} {
			_, err := chaos.Parse("p", []byte("hammr-plan 1\njob j wordcount\nfault at 0s do "+string(kind)+" "+target))
			refused := err != nil && strings.Contains(err.Error(), "its targets are")
			if has := target == "task any" && in.InjectTask != nil || target == "tasknode 1" && in.Inject != nil; has == refused {
				t.Errorf("%s of %s: injector %v, refused %v", kind, target, has, refused)
			}
		}
	}
}

// TestRefusedFaults checks that all invalid faults are reported at once and nothing is
// started.
func TestRefusedFaults(t *testing.T) {
	if rig.Isolated() {
		t.Skip("this process can do more")
	}
	s, err := NewSession(Config{Hammr: "/no/such/program"})
	must.Do(t, err)
	defer s.Close()
	plan, err := chaos.Parse("p", []byte(`hammr-plan 1
job j wordcount
fault at 1s do full-disk tasknode 1
fault at 1s do partition tasknode 1
fault at 1s do kill tasknode 1
fault at 1s do clock tasknode 1 by 5s
`))
	must.Do(t, err)
	report := filepath.Join(t.TempDir(), "report")
	_, err = s.Run(t.Context(), plan, report)
	for _, want := range []string{
		"full-disk tasknode 1: this process has no namespaces", "partition tasknode 1: this process has no namespaces",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := os.Stat(report); err == nil {
		t.Error("there is a report")
	}
	if !NeedsIsolation(plan) || NeedsIsolation(plan.With(plan.Faults[2:])) {
		t.Error("partitions alone need isolation")
	}
}

// TestFaultsOfRunningClusters checks that faults are refused if the hostfile lacks what they
// need.
func TestFaultsOfRunningClusters(t *testing.T) {
	cluster := &testcluster.HostConfig{Hosts: []hostfile.Daemon{
		{Role: hostfile.Jobmaster, Name: "m1", Shell: "a", Start: "again"}, {Role: hostfile.Tasknode, Name: "n1", Shell: "a"}, {Role: hostfile.Tasknode, Name: "n2"},
	}}
	const start, shell = "the line of n1 does not say how it is started again", "the line of n2 names no shell"
	for fault, want := range map[string]string{
		"kill jobmaster leader": "", "restart jobmaster all": "", "stop jobmaster follower for 1s": "", "io-error jobmaster leader": "",
		"slow-disk tasknode 2 by 1ms": "", "io-error tasknode 2": "", "clock tasknode 2 by 1h": "", "preempt task map by split": "",
		"failpoint tasknode 2 at task/spill by crash": "", "failpoint tasknode 2 at tasknode/launch by error@1": "",
		"failpoint jobmaster leader at jobmaster/log-append by crash": "",
		"failpoint tasknode 1 at tasknode/launch by crash":            start, "kill tasknode 1": start, "restart tasknode 2": start,
		"stop tasknode 1":      shell,
		"partition tasknode 1": "its daemons have no networks", "corrupt tasknode 1": "are out of reach", "kill task map": "set a failpoint",
		"kill machine 1": "jobmasters and tasknodes only",
	} {
		plan, err := chaos.Parse("p", []byte("hammr-plan 1\ntasknodes 2\njob j wordcount\nfault at 1s do "+fault))
		must.Do(t, err)
		if err := CanInject(cluster, plan.Faults[0]); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", fault, err, want)
		}
	}
}

// TestWorkLost compares with sums by hand. Repeated and discarded work counts; work kept by
// a preemption does not.
func TestWorkLost(t *testing.T) {
	attempt := func(state wire.AttemptState, from, to int64) *wire.TaskStatus_Attempt {
		return &wire.TaskStatus_Attempt{State: state, StartTime: from, FinishTime: to}
	}
	s := &wire.JobStatus{Tasks: []*wire.TaskStatus{
		{Attempts: []*wire.TaskStatus_Attempt{attempt(wire.AttemptState_ATTEMPT_SUCCEEDED, 10, 110), attempt(wire.AttemptState_ATTEMPT_SUCCEEDED, 200, 240)}},
		{Attempts: []*wire.TaskStatus_Attempt{attempt(wire.AttemptState_ATTEMPT_KILLED, 10, 17), attempt(wire.AttemptState_ATTEMPT_FAILED, 10, 15)}},
		{Attempts: []*wire.TaskStatus_Attempt{attempt(wire.AttemptState_ATTEMPT_PREEMPTED, 10, 500), attempt(wire.AttemptState_ATTEMPT_SUCCEEDED, 500, 600)}},
	}}
	if got := workLost(s); got != 112 {
		t.Errorf("%d ms", got)
	}
	if got := testcluster.ExtraAttempts(s); got != 3 {
		t.Errorf("%d attempts again", got)
	}
	if workLost(nil) != 0 {
		t.Error("a job without a status has lost work")
	}
}

// TestRecoveryFromStatuses checks that a fall in progress is no recovery, and that the next
// rise is one.
func TestRecoveryFromStatuses(t *testing.T) {
	w := newWatch(nil, []string{"j"})
	report := func(done int32) {
		w.update(&wire.JobStatus{JobId: "j", State: wire.JobState_RUNNING, MapsDone: done}, time.Now())
	}
	report(3)
	since := time.Now()
	report(1)
	if at := w.recoveredAt(since, false); !at.IsZero() {
		t.Error("a loss is taken for a step forward")
	}
	if w.recoveredAt(since, true).IsZero() {
		t.Error("a master has answered")
	}
	report(2)
	if w.recoveredAt(since, false).IsZero() {
		t.Error("a step forward is not seen")
	}
	if !w.update(&wire.JobStatus{JobId: "j", State: wire.JobState_FAILED}, time.Now()) {
		t.Error("the job is over")
	}
	<-w.allDone
}

// TestAffectedTasksContinue checks when tasks have recovered: each has finished or runs
// again, or a master reports it as running after the end of the fault.
func TestAffectedTasksContinue(t *testing.T) {
	const runs, won, failed = wire.AttemptState_ATTEMPT_RUNNING, wire.AttemptState_ATTEMPT_SUCCEEDED, wire.AttemptState_ATTEMPT_FAILED
	task := func(id string, states ...wire.AttemptState) *wire.TaskStatus {
		out := &wire.TaskStatus{Id: id}
		for i, state := range states {
			out.Attempts = append(out.Attempts, &wire.TaskStatus_Attempt{Id: fmt.Sprint(id, i), Machine: "n1", State: state})
		}
		return out
	}
	w := newWatch(nil, []string{"j"})
	asked := time.Now()
	report := func(tasks ...*wire.TaskStatus) {
		asked = asked.Add(time.Second)
		w.update(&wire.JobStatus{JobId: "j", State: wire.JobState_RUNNING, Tasks: tasks}, asked)
	}
	var none time.Time
	report(task("a", runs), task("b", runs), task("c", won), task("d", failed))
	hit := w.runningOn([]string{"n1"})
	if want := []runningAttempt{{"j", "a", "a0"}, {"j", "b", "b0"}}; !slices.Equal(hit, want) || w.runningOn([]string{"n2"}) != nil {
		t.Fatalf("there run %v, want %v", hit, want)
	}
	for _, step := range []struct {
		when      string
		tasks     []*wire.TaskStatus
		ended     time.Time
		recovered bool
	}{
		{"no status is newer", []*wire.TaskStatus{task("a", runs), task("b", runs)}, none, false},
		{"one runs again", []*wire.TaskStatus{task("a", failed, runs), task("b", runs)}, none, false},
		{"the other is lost", []*wire.TaskStatus{task("a", failed, runs), task("b", failed)}, none, false},
		{"both run again", []*wire.TaskStatus{task("a", failed, runs), task("b", failed, runs)}, none, true},
		{"both have finished in the end", []*wire.TaskStatus{task("a", won), task("b", failed, won)}, none, true},
		{"it has ended, and the status is older", []*wire.TaskStatus{task("a", runs), task("b", runs)}, asked.Add(time.Hour), false},
		{"it has ended", []*wire.TaskStatus{task("a", runs), task("b", won)}, asked, true},
		{"it has ended and one has not begun again", []*wire.TaskStatus{task("a", runs), task("b", failed)}, asked, false},
	} {
		report(step.tasks...)
		if at := w.hitTasksRecoveredAt(hit, step.ended); at.IsZero() == step.recovered {
			t.Errorf("when %s: recovered at %v", step.when, at)
		}
	}
	w.update(&wire.JobStatus{JobId: "j", State: wire.JobState_FAILED}, asked)
	if w.hitTasksRecoveredAt(hit, none).IsZero() {
		t.Error("the job is over")
	}
}

func TestTriggersAndTargets(t *testing.T) {
	running := func(node string) []*wire.TaskStatus_Attempt {
		return []*wire.TaskStatus_Attempt{{Machine: node, State: wire.AttemptState_ATTEMPT_RUNNING}}
	}
	w := newWatch(nil, []string{"job_1"})
	w.update(&wire.JobStatus{
		JobId: "job_1", State: wire.JobState_RUNNING, MapProgress: 0.5, MapsRunning: 2,
		Tasks: []*wire.TaskStatus{
			{Kind: taskproc.Kind_MAP, Attempts: running("n3")}, {Kind: taskproc.Kind_MAP, Attempts: running("n3")},
			{Kind: taskproc.Kind_REDUCE},
		},
	}, time.Now())
	d := &drill{plan: &chaos.Plan{Tasknodes: 4, Jobs: []chaos.Job{{Name: "j"}}}, watch: w, outs: []string{t.TempDir()}, began: time.Now().Add(-time.Second)}
	for _, c := range []struct {
		trigger chaos.Trigger
		due     bool
	}{
		{chaos.Trigger{Event: chaos.AtTime, At: time.Second}, true},
		{chaos.Trigger{Event: chaos.AtTime, At: time.Hour}, false},
		{chaos.Trigger{Event: chaos.AtMapProgress, Job: "j", N: 50}, true},
		{chaos.Trigger{Event: chaos.AtMapProgress, Job: "j", N: 51}, false},
		{chaos.Trigger{Event: chaos.AtReduceProgress, Job: "j"}, false},
		{chaos.Trigger{Event: chaos.AtCommit, Job: "j"}, false},
	} {
		if got := d.isDue(c.trigger); got != c.due {
			t.Errorf("%v is due: %v", c.trigger, got)
		}
	}
	if n := d.busiest([]string{"n1", "n2", "n3", "n4"}); n != 3 {
		t.Errorf("tasknode %d is the busiest", n)
	}
	if _, err := d.drawAttempt("reduce"); err == nil {
		t.Error("a reduce is found that does not run")
	}
}
