package results

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// runFIFO runs jobs of single tasks of a second each on one machine with two map slots and
// one reduce slot.
func runFIFO(t *testing.T, jobs ...workload.Job) (*workload.Workload, PolicyRun) {
	t.Helper()
	policy, err := registry.New("fifo", nil, sched.Setup{})
	must.Do(t, err)
	w := &workload.Workload{Name: "test", Jobs: jobs}
	r, err := sim.Run(context.Background(), sim.Config{
		Policy: policy, Machines: 1, MapSlots: 2, ReduceSlots: 1, Latency: -1, Tasks: true, Series: true,
	}, w)
	must.Do(t, err)
	return w, PolicyRun{"fifo", r}
}

func jobOf(id string, submit int64, maps, reduces int) workload.Job {
	j := workload.Job{ID: id, Submit: submit, SlowStart: -1, Maps: make([]workload.Task, maps), Reduces: make([]workload.Task, reduces)}
	for _, tasks := range [][]workload.Task{j.Maps, j.Reduces} {
		for i := range tasks {
			tasks[i].Millis = 1000
		}
	}
	return j
}

func TestTables(t *testing.T) {
	_, run := runFIFO(t, jobOf("a", 0, 3, 0), jobOf("b", 500, 1, 1))
	var jobs, tasks, summary bytes.Buffer
	for _, write := range []struct {
		to *bytes.Buffer
		do func(io.Writer, []PolicyRun) error
	}{{&jobs, WriteJobs}, {&tasks, WriteTasks}, {&summary, WriteSummary}} {
		must.Do(t, write.do(write.to, []PolicyRun{run}))
	}
	checkText(t, "jobs.csv", jobs.String(), "policy,jobid,pool,submit_s,start_s,finish_s,sojourn_s,slowdown,maps,reduces,local_maps,preemptions,work_lost_s,work_conserved_s\n"+
		"fifo,a,default,0.000,0.000,2.000,2.000,1.3333,3,0,3,0,0.000,0.000\n"+
		"fifo,b,default,0.500,1.000,3.000,2.500,1.2500,1,1,1,0,0.000,0.000\n")
	checkText(t, "tasks.csv", tasks.String(), "policy,jobid,phase,task,attempt,machine,start_s,end_s,suspended_s,local,outcome,fraction\n"+
		"fifo,a,map,0,0,n0001,0.000,1.000,0.000,true,finished,1.000000\n"+
		"fifo,a,map,1,0,n0001,0.000,1.000,0.000,true,finished,1.000000\n"+
		"fifo,a,map,2,0,n0001,1.000,2.000,0.000,true,finished,1.000000\n"+
		"fifo,b,map,0,0,n0001,1.000,2.000,0.000,true,finished,1.000000\n"+
		"fifo,b,reduce,0,0,n0001,2.000,3.000,0.000,false,finished,1.000000\n")
	line := strings.Join(strings.Fields(strings.Split(summary.String(), "\n")[1]), " ")
	checkText(t, "summary", line, "fifo 2 2.2 s 2.0 s 2.5 s 2.5 s 1.29 100.0 % 0 0 s 0 s 3 s")
}

func checkText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is\n%s\nwant\n%s", what, got, want)
	}
}

// TestReport writes one and several repetitions into a directory that has its name only when
// it is complete.
func TestReport(t *testing.T) {
	w, run := runFIFO(t, jobOf("a", 0, 3, 0), jobOf("b", 500, 1, 1))
	one := Repetition{Seed: 1, Runs: []PolicyRun{run}}
	for name, c := range map[string]struct {
		repetitions []Repetition
		files       string
		summary     string
	}{
		"one repetition":      {[]Repetition{one}, "jobs.csv slots.svg sojourn.svg tasks.csv", "offered load"},
		"several repetitions": {[]Repetition{one, one}, "run-001 run-002 slots.svg sojourn.svg", "2 runs, seeds 1 to 1: medians"},
	} {
		t.Run(name, func(t *testing.T) {
			report := Report{Workload: w, Cluster: sim.Config{Machines: 1, MapSlots: 2, ReduceSlots: 1}, Repetitions: c.repetitions}
			out := filepath.Join(t.TempDir(), "deep", "out")
			dir, err := Stage(out)
			must.Do(t, err)
			defer dir.Discard()
			must.Do(t, report.Write(dir, true))
			if err := CheckNew(out); err != nil {
				t.Errorf("before the commit: %v", err)
			}
			must.Do(t, dir.Commit())
			entries, err := os.ReadDir(out)
			must.Do(t, err)
			var files []string
			for _, e := range entries {
				files = append(files, e.Name())
			}
			checkText(t, "directory", strings.Join(files, " "), c.files)
			var summary bytes.Buffer
			if err := report.WriteSummary(&summary); err != nil || !strings.Contains(summary.String(), c.summary) {
				t.Errorf("summary is\n%s%v", summary.String(), err)
			}
		})
	}
}

func TestDiscardedDirLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "out")
	must.Do(t, CheckWritable(out))
	dir, err := Stage(out)
	must.Do(t, err)
	if err := dir.WriteFile("a/b", func(w io.Writer) error { return io.ErrShortWrite }); err == nil {
		t.Error("a failed write succeeds")
	}
	dir.Discard()
	if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v are left", entries, err)
	}
}
