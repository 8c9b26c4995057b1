package mr

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
)

// counting returns a job with a reduce phase.
func counting() *Job[string, int64, string, int64] {
	mapper := MapFunc(func(_ *Task, _ int64, line []byte, out Emitter[string, int64]) error {
		out.Emit(string(line), 1)
		return nil
	})
	return New("counting", TextLines(), mapper, Sum[string, int64](), TextOutput[string, int64]())
}

func TestGraphOfThisBinaryIsComparedWithTheOneSubmitted(t *testing.T) {
	for name, c := range map[string]struct {
		maps, reduces  int // numbers of tasks as submitted
		mapsNow, input int32
		set            string // mapreduce.job.reduces
		want           string
	}{
		"the same":            {maps: 3, reduces: 2, mapsNow: 3, set: "2"},
		"a map was split":     {maps: 3, reduces: 2, mapsNow: 4, set: "2"},
		"fewer reduces":       {maps: 3, reduces: 2, mapsNow: 3, set: "1", want: `submitted with stage "reduce" 2 reduce`},
		"no reduces":          {maps: 3, reduces: 2, mapsNow: 3, set: "0", want: `submitted with edge "map" -> "reduce"`},
		"reduces out of none": {maps: 3, reduces: 0, mapsNow: 3, set: "1", want: `here with stage "reduce" 1 reduce`},
		"an input less":       {maps: 3, reduces: 2, mapsNow: 3, set: "2", input: 1, want: "that one has 2 inputs or more, this one has 1"},
	} {
		properties, err := conf.FromMap(map[string]string{conf.JobReduces: c.set})
		must.Do(t, err)
		err = checkGraph(counting(), properties, &taskproc.Start{
			Maps: c.mapsNow, Reduces: int32(c.reduces), Fingerprint: dag.MapReduce(c.maps, c.reduces).Fingerprint(),
			Split: &taskproc.Split{Input: c.input},
		})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// serve runs a task and returns its last message.
func serve(t *testing.T, start *taskproc.Start, programs ...Runnable) *taskproc.FromTask {
	t.Helper()
	ours, theirs := net.Pipe()
	node, ended := taskproc.NewTasknodeEnd(ours), make(chan error)
	defer node.Close()
	go func() { ended <- serveTasks(theirs, nil, programs) }()
	must.Do(t, node.Send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: start}}))
	var last *taskproc.FromTask
	for {
		m, err := node.Receive()
		if err != nil {
			break
		}
		last = m
	}
	if err := <-ended; err != nil {
		t.Errorf("the task's end: %v", err)
	}
	return last
}

func TestTaskIsServedByTheProgramThatHasItsJob(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1GiB") // keeps mr from changing the test's memory limit
	t.Setenv("GOGC", "100")
	dir := t.TempDir()
	silent := MapFunc(func(*Task, int64, []byte, Emitter[string, int64]) error { return nil })
	other := MapOnly("other", TextLines(), silent, NullOutput[string, int64]())
	start := func() *taskproc.Start {
		return &taskproc.Start{
			Program: "other", Kind: taskproc.Kind_MAP, AttemptId: "a", LocalDir: dir, Maps: 1,
			Split: &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: "file://" + filepath.Join(dir, "none"), Length: 1}}},
			Range: &taskproc.Range{End: &taskproc.Position{Offset: 1}},
		}
	}
	if f := serve(t, start(), counting(), other).GetFailure(); !strings.Contains(f.GetCause(), "no such file") {
		t.Errorf("failure %v", f)
	}
	if f := serve(t, start(), counting()).GetFailure(); !f.GetFatal() || !strings.Contains(f.GetCause(), `job "other" is not in this binary`) {
		t.Errorf("failure %v", f)
	}
	faulty := start()
	faulty.Properties = map[string]string{conf.SortMB: "much"}
	if f := serve(t, faulty, other).GetFailure(); !f.GetFatal() || !strings.Contains(f.GetCause(), "much") {
		t.Errorf("failure %v", f)
	}
}

func TestProgramsMayHaveJobsOfOneName(t *testing.T) {
	pair := func(name string) *Program { return &Program{Name: name, Jobs: []Runnable{counting()}} }
	jobs, err := jobsOf([]Runnable{counting(), pair("first"), pair("second")})
	if err != nil || len(jobs) != 3 || jobs["counting"] == nil || jobs["first/counting"] == nil || jobs["second/counting"] == nil {
		t.Errorf("jobs %v, %v", jobs, err)
	}
	if _, err := jobsOf([]Runnable{pair("first"), pair("first")}); err == nil || !strings.Contains(err.Error(), "two jobs named first/counting") {
		t.Errorf("error %v", err)
	}
}
